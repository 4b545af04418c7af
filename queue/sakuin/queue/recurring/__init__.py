"""Recurring tasks: what is to be pushed again and again, by which clock, each time once.

Declare tasks (`read_tasks` from a file, `Task` in code; `declare_tasks`), and run a `Scheduler`,
or several: each run is pushed once.
"""

from sakuin.queue.recurring.clock import Clock, database_clock
from sakuin.queue.recurring.declare import declare_tasks, drop_task
from sakuin.queue.recurring.describe import describe
from sakuin.queue.recurring.enqueue import run_now
from sakuin.queue.recurring.parse_schedule import parse_schedule
from sakuin.queue.recurring.prune_runs import prune_runs
from sakuin.queue.recurring.schedule import Cron, Every, Schedule
from sakuin.queue.recurring.scheduler import Scheduler
from sakuin.queue.recurring.task import BadTask, Task
from sakuin.queue.recurring.task_file import BadTaskFile, read_tasks
from sakuin.queue.recurring.tasks_shown import ShownRun, ShownTask, runs_shown, tasks_shown
from sakuin.queue.recurring.zones import BadSchedule

__all__ = [
    "BadSchedule",
    "BadTask",
    "BadTaskFile",
    "Clock",
    "Cron",
    "Every",
    "Schedule",
    "Scheduler",
    "ShownRun",
    "ShownTask",
    "Task",
    "database_clock",
    "declare_tasks",
    "describe",
    "drop_task",
    "parse_schedule",
    "prune_runs",
    "read_tasks",
    "run_now",
    "runs_shown",
    "tasks_shown",
]
