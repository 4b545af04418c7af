"""What a scheduler reads of each task, in one look: its plan and the time now."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from sakuin.queue.dialect import execute, moment_or_epoch
from sakuin.queue.recurring.parse_schedule import parse_schedule
from sakuin.queue.recurring.schedule import Schedule

_PLANNED = (
    "SELECT task_key, schedule, zone, planned_from, catch_up_seconds FROM sakuin_tasks"
    " ORDER BY task_key"
)


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of one task: its next run is the first of the schedule after `planned_from`."""

    key: str
    schedule: str
    zone: str
    planned_from: datetime
    catch_up_seconds: float

    def when(self) -> Schedule:
        """Return the schedule as read, or raise BadSchedule: the table is open to anybody."""
        return parse_schedule(self.schedule, self.zone)


def planned_tasks(connection: Connection) -> tuple[Planned, ...]:
    """Return the plan of every task, in order of their keys."""
    return tuple(
        Planned(
            key=row.task_key,
            schedule=row.schedule,
            zone=row.zone,
            planned_from=moment_or_epoch(row.planned_from),
            catch_up_seconds=row.catch_up_seconds,
        )
        for row in execute(connection, _PLANNED)
    )
