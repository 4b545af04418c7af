"""The processes that work on the queue: who they are, whether they live, who tidies after them."""

from sakuin.queue.processes.heartbeat import Heartbeat
from sakuin.queue.processes.process import Process
from sakuin.queue.processes.prune_dead import prune_dead
from sakuin.queue.processes.registry import deregister, processes, register

__all__ = ["Heartbeat", "Process", "deregister", "processes", "prune_dead", "register"]
