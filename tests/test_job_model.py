"""Jobs and batches against plain dicts: any sequence of events leaves the same rows in both."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Connection, Engine

from conftest import Stress
from sakuin.queue import (
    LeaseLost,
    Message,
    RetryPolicy,
    ack,
    bury,
    claim,
    dead_messages,
    fail,
    read,
    replay,
    retry_dead,
)
from sakuin.queue.dialect import execute
from sakuin.queue.jobs import (
    Callback,
    Receipt,
    StaleReceipt,
    add_to_batch,
    batch_of,
    end_batches,
    finish_jobs_on,
    job_of,
    open_batch,
    prune,
    push_job,
    receive_jobs_on,
    retry_jobs_on,
    seal_batch,
    set_progress,
    settle_by_receipt,
    settle_orphans,
)

POLICY = RetryPolicy(max_attempts=3, first_seconds=500, most_seconds=500, alone_after=9)
TABLES = ("messages", "dead", "jobs", "batches", "batch_messages")


@dataclass(slots=True)
class Live:
    """A message in the queue. `key` is its unique key, in force while it waits."""

    key: str | None
    state: str = "ready"
    attempts: int = 0
    token: bytes | None = None


@dataclass(slots=True)
class Life:
    """What one job should say."""

    message_id: int
    keep: float
    status: str = "waiting"
    token: bytes | None = None
    done: int | None = None
    result: bytes | None = None
    error: str | None = None


@dataclass(slots=True)
class Group:
    """What one batch should say: its members, and which were dead when a dispatcher looked."""

    members: set[int] = field(default_factory=set)
    marked: set[int] = field(default_factory=set)
    total: int = 0
    is_sealed: bool = False
    failed: int | None = None


class JobMachine(RuleBasedStateMachine):
    """Every rule does one thing to the database and the same to the model; time stands still."""

    engine: Engine
    messages = Bundle("messages")

    def __init__(self) -> None:
        super().__init__()
        self.live: dict[int, Live] = {}
        self.dead: dict[int, str | None] = {}
        self.jobs: dict[int, Life] = {}
        self.groups: dict[int, Group] = {}
        self.pruned: set[int] = set()
        self.callbacks = 0
        for table in TABLES:
            self.run(f"DELETE FROM sakuin_{table}")

    def run(self, sql: str, **options: Any) -> None:
        replay(self.engine, lambda connection: execute(connection, sql, **options))

    def is_ours(self, message: Message) -> bool:
        found = self.live.get(message.id)
        return found is not None and found.token == message.token

    def jobs_of(self, message_id: int, *statuses: str) -> list[Life]:
        wanted = statuses or ("waiting", "making")
        return [
            job
            for job in self.jobs.values()
            if job.message_id == message_id and job.status in wanted
        ]

    def end(self, message_id: int, status: str, **says: Any) -> None:
        del self.live[message_id]
        for job in self.jobs_of(message_id):
            job.status, job.token = status, None
            job.result, job.error = says.get("result"), says.get("error")
            if status == "finished" and job.done is not None:
                job.done = 9  # of nine

    def die(self, message_id: int, reason: str) -> None:
        self.dead[message_id] = self.live[message_id].key
        self.end(message_id, "failed", error=reason)

    def waiting_under(self, key: str | None) -> int | None:
        found = (
            number
            for number, one in self.live.items()
            if key and one.key == key and one.state in ("ready", "scheduled") and not one.token
        )
        return next(found, None)

    def merge(self, old: int, new: int) -> None:
        for job in self.jobs_of(old, "waiting", "making", "failed"):
            job.message_id, job.status, job.token, job.result = new, "waiting", None, None
        for group in self.groups.values():
            if group.failed is None and old in group.members:
                group.members = group.members - {old} | {new}
                group.marked.discard(old)

    @rule(key=st.sampled_from((None, None, "k")), keep=st.sampled_from((0.0, 900.0)))
    def push(self, key: str | None, keep: float) -> None:
        job_id = replay(
            self.engine,
            lambda on: push_job(on, "q", b"x", unique_key=key, keep_seconds=keep),
        )
        waiting = self.waiting_under(key)
        if waiting is not None:
            assert job_id == min(
                number for number, job in self.jobs.items() if job.message_id == waiting
            )
            return
        assert job_id not in self.jobs
        found = read(self.engine, lambda on: job_of(on, job_id))
        assert found is not None
        self.jobs[job_id] = Life(found.message_id, keep)
        self.live[found.message_id] = Live(key)

    @rule(limit=st.integers(1, 3), target=messages)
    def claim(self, limit: int) -> Any:
        got = claim(
            self.engine,
            "q",
            limit=limit,
            lease_seconds=500,
            policy=RetryPolicy(max_attempts=99, alone_after=99),
            also=receive_jobs_on,
        )
        ready = {number for number, one in self.live.items() if one.state == "ready"}
        assert {one.id for one in got} <= ready
        assert len(got) == min(limit, len(ready))
        for one in got:
            found = self.live[one.id]
            found.state, found.attempts, found.token = "leased", one.attempts, one.token
            for job in self.jobs_of(one.id):
                job.status, job.token, job.done = "making", one.token, None
        return multiple(*got)

    @rule(message=messages, done=st.integers(0, 9))
    def progress(self, message: Message, done: int) -> None:
        mine = self.jobs_of(message.id, "making") if self.is_ours(message) else []
        assert set_progress(self.engine, Receipt.of(message), done, 9) is bool(mine)
        for job in mine:
            job.done = done

    @rule(batch=st.lists(messages, max_size=3), result=st.none() | st.just(b"r"))
    def finish(self, batch: list[Message], result: bytes | None) -> None:
        ours = {one.id for one in batch if self.is_ours(one)}
        results = {number: result for number in ours if result is not None}
        lost = ack(self.engine, batch, also=lambda on, ids: finish_jobs_on(on, ids, results))
        # A message may be there twice: once with the token that it bears, once with an old one.
        assert lost == {one.id for one in batch if not self.is_ours(one)}
        for number in ours:
            self.end(number, "finished", result=result)

    @rule(message=messages)
    def fail(self, message: Message) -> None:
        lost = fail(
            self.engine,
            [message],
            "no",
            policy=POLICY,
            also=lambda on, ids: retry_jobs_on(on, ids, "no"),
        )
        assert bool(lost) is not self.is_ours(message)
        if lost:
            return
        found = self.live[message.id]
        newer = self.waiting_under(found.key)
        if message.attempts >= 3:
            self.die(message.id, "no")
        elif newer is not None:
            del self.live[message.id]
            self.merge(message.id, newer)
        else:
            found.state, found.token = "scheduled", None
            for job in self.jobs_of(message.id):
                job.status, job.token, job.error = "waiting", None, "no"

    @rule(message=messages, verb=st.sampled_from(("result", "error", "bury")))
    def settle(self, message: Message, verb: str) -> None:
        """By receipt, fresh or stale, or by burying it."""
        is_ours = self.is_ours(message)
        try:
            if verb == "result":
                settle_by_receipt(self.engine, str(Receipt.of(message)), result=b"by receipt")
            elif verb == "error":
                settle_by_receipt(self.engine, Receipt.of(message), error="why")
            else:
                bury(self.engine, message, "why")
        except (StaleReceipt, LeaseLost):
            assert not is_ours
            return
        assert is_ours
        if verb == "result":
            self.end(message.id, "finished", result=b"by receipt")
        else:
            self.die(message.id, "why")

    @rule()
    def retry_dead(self) -> None:
        entries = read(self.engine, lambda on: dead_messages(on, limit=1000))
        assert {one.message_id for one in entries} == set(self.dead)
        if not entries:
            return
        oldest = entries[-1]
        assert retry_dead(self.engine, [oldest.id]) == 1
        key = self.dead.pop(oldest.message_id)
        for group in self.groups.values():
            group.marked.discard(oldest.message_id)
        newer = self.waiting_under(key)
        if newer is not None:
            self.merge(oldest.message_id, newer)
            return
        self.live[oldest.message_id] = Live(key)
        for job in self.jobs_of(oldest.message_id, "failed"):
            job.status = "waiting"

    @rule(chance=st.randoms(use_true_random=False))
    def travel(self, chance: Any) -> None:
        """A lease or a wait comes to its end."""
        late = sorted(number for number, one in self.live.items() if one.state != "ready")
        if late:
            number = chance.choice(late)
            self.run(
                "UPDATE sakuin_messages SET locked_until = created_at WHERE id IN ({ids})",
                ids=[number],
            )
            self.live[number].state = "ready"

    @rule(chance=st.randoms(use_true_random=False))
    def remove_by_sql(self, chance: Any) -> None:
        """Somebody deletes a message by plain SQL; the dispatcher notices."""
        if self.live:
            number = chance.choice(sorted(self.live))
            self.run("DELETE FROM sakuin_messages WHERE id IN ({ids})", ids=[number])
            assert settle_orphans(self.engine) == len(self.jobs_of(number))
            self.end(number, "finished")

    @rule()
    def prune(self) -> None:
        over = {
            number
            for number, job in self.jobs.items()
            if job.status in ("finished", "failed") and not job.keep
        }
        assert prune(self.engine) == len(over)
        for number in over:
            del self.jobs[number]

    @rule(many=st.integers(0, 3), seal=st.booleans())
    def gather(self, many: int, seal: bool) -> None:
        """Open a batch of the newest messages that there are."""
        members = sorted(self.live)[-many:] if many else []

        def work(on: Connection) -> int:
            batch_id = open_batch(on, "x", Callback("after", None, b""))
            add_to_batch(on, batch_id, members)
            if seal:
                seal_batch(on, batch_id)
            return batch_id

        batch_id = replay(self.engine, work)
        group = Group(set(members), total=len(members), is_sealed=seal)
        self.groups[batch_id] = group
        if seal and not members:
            group.failed = 0
            self.callbacks += 1

    @rule()
    def end_batches(self) -> None:
        for batch_id in [number for number, one in self.groups.items() if not one.is_sealed]:
            replay(self.engine, lambda on, one=batch_id: seal_batch(on, one))  # type: ignore[misc]
            self.groups[batch_id].is_sealed = True
            if not self.groups[batch_id].members:
                self.groups[batch_id].failed = 0
                self.callbacks += 1
        over = [
            one
            for one in self.groups.values()
            if one.failed is None and not one.members & set(self.live)
        ]
        assert end_batches(self.engine) == len(over)
        self.callbacks += len(over)
        for group in self.groups.values():
            if group.failed is None:
                group.marked = group.members & set(self.dead)
        for group in over:
            group.failed = len(group.marked)

    @invariant()
    def the_rows_are_the_models(self) -> None:
        sql = "SELECT id, message_id, status, receipt_handle, done, result, error FROM sakuin_jobs"
        rows = read(self.engine, lambda on: execute(on, sql).all())
        assert {row.id: tuple(row)[1:] for row in rows} == {
            number: (one.message_id, one.status, one.token, one.done, one.result, one.error)
            for number, one in self.jobs.items()
        }

    @invariant()
    def the_batches_are_the_models(self) -> None:
        for number, group in self.groups.items():
            found = read(self.engine, lambda on, one=number: batch_of(on, one))  # type: ignore[misc]
            assert found is not None
            assert (found.ended_at is None) is (group.failed is None)
            assert found.total == group.total
            if group.failed is None:
                assert found.remaining == len(group.members & set(self.live))
                assert found.failed == len(group.marked)
            else:
                assert (found.remaining, found.failed) == (0, group.failed)
        sql = "SELECT COUNT(*) FROM sakuin_messages WHERE queue = 'after'"
        assert read(self.engine, lambda on: execute(on, sql).scalar_one()) == self.callbacks


def test_jobs_and_batches_are_like_the_model(engine: Engine, stress: Stress) -> None:
    """Q1, Q3: pushes, deliveries, progress, timely and stale settling, deaths and lives again,
    merges, pruning and batches in any order."""

    class Machine(JobMachine):
        pass

    Machine.engine = engine
    run_state_machine_as_test(
        Machine,
        settings=settings(
            derandomize=True,
            deadline=None,
            phases=(Phase.generate,),
            max_examples=stress.count(100),
            stateful_step_count=40,
        ),
    )
