"""Sakuin's own recurring jobs: verify, sweep, prune, optimise. One at a time, by night."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sakuin.app.assemble import Parts, installation
from sakuin.app.search_log_rows import count_searches
from sakuin.app.search_log_tables import has_search_log
from sakuin.app.search_log_writer import LogWriter
from sakuin.app.settings import Settings, read_settings
from sakuin.indexer.rebuild import rebuild
from sakuin.indexer.sweep import sweep
from sakuin.indexer.verify import verify
from sakuin.queue import GiveUp, Limit, read
from sakuin.queue.jobs import Jobs, Run
from sakuin.queue.recurring import Task

MAINTENANCE_QUEUE = "sakuin:maintenance"
MAINTENANCE_ORIGIN = "sakuin"
_MOST_SECONDS = 6 * 3600.0
_CATCH_UP_SECONDS = 3 * 3600.0
_ONE_AT_A_TIME = Limit("all", to=1, group="sakuin:maintenance", on_conflict="block")


@dataclass(frozen=True, slots=True)
class Verified:
    """How many rows of each index were compared."""

    rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class Removed:
    """How many things were removed, for each index or table."""

    count: dict[str, int]


@dataclass(frozen=True, slots=True)
class Optimised:
    """The generation of each index that was built anew."""

    generations: dict[str, int]


def maintenance_tasks(settings: Settings) -> tuple[Task, ...]:
    """Return the recurring tasks, by the time zone of the settings; none where they say so."""
    if not settings.maintenance:
        return ()
    plan = {
        "verify": ("every day at 3:30", "compare every index with its table"),
        "sweep": ("every hour at :15", "remove generations and leftovers that nobody needs"),
        "prune": ("every day at 3:45", "remove what the search log keeps no longer"),
        "optimise": ("every sunday at 4:30", "build every index anew, without what was deleted"),
    }
    return tuple(
        Task(
            key=f"sakuin.{name}",
            kind=f"sakuin.{name}",
            schedule=schedule,
            zone=settings.time_zone,
            queue=MAINTENANCE_QUEUE,
            priority=9,
            catch_up_seconds=_CATCH_UP_SECONDS,
            description=description,
            limit=_ONE_AT_A_TIME,
        )
        for name, (schedule, description) in plan.items()
    )


def maintenance_jobs() -> Jobs:
    """Return the kinds of maintenance; each opens the installation that the settings describe."""
    jobs = Jobs()
    kinds: dict[str, Callable[..., Any]] = {
        "verify": verify_indexes,
        "sweep": sweep_indexes,
        "prune": prune_search_log,
        "optimise": optimise_indexes,
    }
    for name, function in kinds.items():
        jobs.job(f"sakuin.{name}", queue=MAINTENANCE_QUEUE, seconds=_MOST_SECONDS)(function)
    return jobs


def verify_indexes(run: Run) -> Verified:
    """Compare every index with its table. Raises GiveUp that names those that differ."""
    rows: dict[str, int] = {}
    faults: list[str] = []
    with _each(run) as every:
        for parts in every:
            report = verify(parts.copy)
            rows[parts.index.name] = report.rows
            if not report.is_equal:
                faults.append(parts.index.name)
    if faults:
        raise GiveUp(
            f"these indexes differ from their tables: {', '.join(faults)}; see "
            f"`sakuin index verify --index {faults[0]}`, mend with `sakuin index repair "
            f"--index {faults[0]}`"
        )
    return Verified(rows)


def sweep_indexes(run: Run) -> Removed:
    """Remove the generations and leftovers of every index that nobody needs."""
    with _each(run) as every:
        return Removed({p.index.name: len(sweep(p.copy.generations)) for p in every})


def optimise_indexes(run: Run) -> Optimised:
    """Build every index anew, if it has a generation at all."""
    built: dict[str, int] = {}
    with _each(run) as every:
        for parts in every:
            if parts.copy.generations.current():
                built[parts.index.name] = rebuild(parts.copy)
                sweep(parts.copy.generations)
    return Optimised(built)


def prune_search_log() -> Removed:
    """Remove what the search log is to keep no longer, whether or not it is written now."""
    settings = read_settings()
    with installation(settings) as opened:
        if not read(opened.database, has_search_log):
            return Removed({})
        before = read(opened.database, count_searches)
        LogWriter(opened.database, settings.search_log_days, settings.search_log_queries).tidy()
        return Removed({"searches": max(0, before - read(opened.database, count_searches))})


@contextmanager
def _each(run: Run) -> Iterator[Iterator[Parts]]:
    """Give the parts of every index, one after another, and tell how far it is."""
    with installation(read_settings()) as opened:
        collections = list(opened.catalogue.every())

        def parts() -> Iterator[Parts]:
            for number, collection in enumerate(collections):
                run.progress(number, len(collections), collection.index.name)
                yield opened.parts_of(collection)

        yield parts()
