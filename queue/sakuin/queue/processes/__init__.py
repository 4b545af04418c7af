"""The processes that work on the queue: who they are, whether they live, who tidies after them."""

from sakuin.queue.processes.dispatcher import Chore, Dispatcher
from sakuin.queue.processes.duty import Duty
from sakuin.queue.processes.heartbeat import Heartbeat
from sakuin.queue.processes.in_threads import in_threads
from sakuin.queue.processes.plan import Plan, Role
from sakuin.queue.processes.process import Process
from sakuin.queue.processes.prune_dead import Touch, prune_dead
from sakuin.queue.processes.registry import deregister, processes, register
from sakuin.queue.processes.stop_on_signals import stop_on_signals
from sakuin.queue.processes.supervisor import RoleRefused, supervise
from sakuin.queue.processes.usual_plan import usual_plan

__all__ = [
    "Chore",
    "Dispatcher",
    "Duty",
    "Heartbeat",
    "Plan",
    "Process",
    "Role",
    "RoleRefused",
    "Touch",
    "deregister",
    "in_threads",
    "processes",
    "prune_dead",
    "register",
    "stop_on_signals",
    "supervise",
    "usual_plan",
]
