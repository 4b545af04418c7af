"""The processes that work on the queue: who they are, whether they live, who tidies after them."""

from sakuin.queue.processes.dispatcher import Chore, Dispatcher
from sakuin.queue.processes.duty import Duty
from sakuin.queue.processes.heartbeat import Heartbeat
from sakuin.queue.processes.plan import Plan, Role
from sakuin.queue.processes.process import Process
from sakuin.queue.processes.prune_dead import Touch, prune_dead
from sakuin.queue.processes.registry import deregister, processes, register
from sakuin.queue.processes.stop_on_signals import stop_on_signals
from sakuin.queue.processes.supervisor import RoleRefused, supervise

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
    "processes",
    "prune_dead",
    "register",
    "stop_on_signals",
    "supervise",
]
