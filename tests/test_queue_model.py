"""The queue against plain Python: any sequence of verbs leaves the same messages in both."""

from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Connection, Engine

from conftest import Stress
from queue_model import POLICY, QueueModel, Row
from sakuin.queue import (
    LeaseLost,
    Limit,
    LimitReached,
    Message,
    ack,
    bury,
    bury_part,
    claim,
    crash,
    discard_dead,
    extend,
    fail,
    free_stale_limits,
    pause,
    push,
    push_many,
    read,
    release,
    replay,
    requeue_held,
    resume,
    retry_dead,
    shrink,
)
from sakuin.queue.dialect import execute

HOLDERS = (b"holder-1", b"holder-2")
QUEUES = st.sampled_from(("q", "q", "q", "p"))
LIMITS = st.sampled_from(
    (
        *(None, None, None, Limit("a", to=1), Limit("a", to=2), Limit("a", to=2)),
        *(Limit("b", to=1), Limit("a", on_conflict="discard", to=2)),
    )
)
KEYS = st.sampled_from((None, None, None, "k", "j"))
PRIORITIES = st.sampled_from((0, 5, 5, 5, 255))

_ROWS = (
    "SELECT m.id, m.queue, priority, data, kind, unique_key, held_key, m.limit_key, limit_to,"
    " attempts, errors, m.token, CASE WHEN locked_until <= {now} THEN 'ready'"
    " WHEN locked_until >= '9999-01-01' THEN 'blocked' WHEN token IS NULL THEN 'scheduled'"
    " ELSE 'leased' END FROM sakuin_messages m"
)
_LIMITED = (
    "SELECT m.id, l.limit_key, l.state FROM sakuin_limited l"
    " JOIN sakuin_messages m ON m.id = l.message_id"
)
_DEAD = (
    "SELECT id, message_id, queue, priority, data, attempts, errors, kind, unique_key, limit_key,"
    " limit_to FROM sakuin_dead ORDER BY id"
)
_LEASED_OF_KEY = (
    "SELECT COUNT(*) FROM sakuin_messages WHERE limit_key = ? AND token IS NOT NULL"
    " AND locked_until > {now}"
)
SLOTS = {"waits": 0, "blocked": 1, "holds": 2, "called": 3}


def told(text: str | None, limit: bool = False) -> bytes | None:
    """Return a key as the table holds it."""
    return None if text is None else ("/" * limit + text).encode()


class QueueMachine(RuleBasedStateMachine):
    """Every rule does one thing to the database and the same to the model.

    Time never passes by itself here: `travel` ends a lease or a wait, and every message that
    becomes due does so at a turn of the model's own, since clocks may not tell two apart.
    """

    engine: Engine
    messages = Bundle("messages")

    def __init__(self) -> None:
        super().__init__()
        self.model = QueueModel()
        self.turn = 0
        self.dead_ids: list[int] = []
        for table in ("messages", "dead", "limited", "limits", "pauses"):
            self.run(f"DELETE FROM sakuin_{table}")

    def run(self, sql: str, *values: Any, **options: Any) -> None:
        replay(self.engine, lambda connection: execute(connection, sql, *values, **options))

    def become_due(self, number: int, columns: str = "locked_until due_at") -> int:
        self.turn += 1
        moment = f"2020-01-01 00:00:00.{self.turn:06d}"
        sets = ", ".join(f"{column} = '{moment}'" for column in columns.split())
        self.run(f"UPDATE sakuin_messages SET {sets} WHERE id IN ({{ids}})", ids=[number])
        return self.turn

    def appear(self, number: int, row: Row, *, is_delayed: bool = False) -> None:
        self.model.live[number] = row
        if is_delayed:
            row.state = "scheduled"
        else:
            row.due = row.place = self.become_due(number)

    @initialize(limits=st.lists(LIMITS, min_size=2, max_size=8))
    def begin(self, limits: list[Limit | None]) -> None:
        for limit in limits:
            self.push("q", 5, b"", 0.0, None, limit)

    @rule(
        queue=QUEUES,
        priority=PRIORITIES,
        data=st.binary(max_size=4),
        delay=st.sampled_from((0.0, 500.0)),
        key=KEYS,
        limit=LIMITS,
    )
    def push(
        self,
        queue: str,
        priority: int,
        data: bytes,
        delay: float,
        key: str | None,
        limit: Limit | None,
    ) -> None:
        options: dict[str, Any] = {"priority": priority, "unique_key": key, "kind": key}
        options |= {"delay_seconds": delay, "limit": limit}
        waiting = self.model.waiting_under(queue, key)
        is_discarding = limit is not None and limit.on_conflict == "discard"
        is_refused = bool(
            limit and is_discarding and waiting is None and self.model.is_full(limit.key, limit.to)
        )
        try:
            number = replay(self.engine, lambda one: push(one, queue, data, **options))
        except LimitReached:
            assert is_refused
            return
        assert not is_refused
        if waiting is not None:
            assert number == waiting
            return
        row = Row(queue, priority, data, key, key)
        if limit is not None:
            row.limit, row.to = limit.key, limit.to
            row.slot = "waits" if is_discarding else None
        assert number not in self.model.live
        self.appear(number, row, is_delayed=delay > 0)

    @rule(queue=QUEUES, priority=PRIORITIES, datas=st.lists(st.binary(max_size=2), max_size=3))
    def push_many(self, queue: str, priority: int, datas: list[bytes]) -> None:
        def work(connection: Connection) -> list[int]:
            assert push_many(connection, queue, datas, priority=priority, kind="m") == len(datas)
            found = "SELECT id FROM sakuin_messages ORDER BY id DESC LIMIT ?"
            return sorted(execute(connection, found, len(datas)).scalars())

        for number, data in zip(replay(self.engine, work), datas, strict=True):
            self.appear(number, Row(queue, priority, data, "m"))

    @rule(queue=QUEUES, limit=st.integers(1, 6), holder=st.sampled_from(HOLDERS), target=messages)
    def claim(self, queue: str, limit: int, holder: bytes) -> Any:
        got = claim(
            self.engine, queue, limit=limit, lease_seconds=500, policy=POLICY, holder=holder
        )
        assert [one.id for one in got] == self.model.claim(queue, limit)
        for one in got:
            row = self.model.live[one.id]
            assert (one.data, one.priority, one.attempts, one.errors, one.kind) == (
                row.data,
                row.priority,
                row.attempts + 1,
                row.errors,
                row.kind,
            )
            assert one.unique_key == told(row.key or row.held)
            assert one.limit_key == told(row.limit, limit=True)
            assert one.token.startswith(holder)
            self.model.lease(one)
        self.nobody_exceeds(got)
        return multiple(*got)

    def nobody_exceeds(self, got: tuple[Message, ...]) -> None:
        for key in {one.limit_key for one in got if one.limit_key}:
            most = max(self.model.live[one.id].to for one in got if one.limit_key == key)
            with self.engine.connect() as connection:
                assert execute(connection, _LEASED_OF_KEY, key).scalar_one() <= most

    @rule(
        batch=st.lists(messages, min_size=1, max_size=4),
        verb=st.sampled_from(("ack", "release", "fail", "crash", "extend")),
    )
    def settle(self, batch: list[Message], verb: str) -> None:
        lost = self.model.settle(batch, getattr(self.model, verb))
        acts: dict[str, Any] = {
            "ack": lambda: ack(self.engine, batch),
            "release": lambda: release(self.engine, batch),
            "fail": lambda: fail(self.engine, batch, "no", policy=POLICY),
            "crash": lambda: crash(self.engine, batch, "no", policy=POLICY),
            "extend": lambda: extend(self.engine, batch, 500),
        }
        assert acts[verb]() == lost

    @rule(message=messages, data=st.binary(max_size=4), rest=st.sampled_from((b"r", None, ...)))
    def change(self, message: Message, data: bytes, rest: Any) -> None:
        """The message's data shrinks, or a part of it is buried, or the last of it."""
        is_ours = self.model.is_ours(message)
        if rest is ...:
            assert shrink(self.engine, message, data) is is_ours
            if is_ours:
                self.model.live[message.id].data = data
            return
        if is_ours:
            self.model.die_in_part(message.id, data, rest)
        try:
            bury_part(self.engine, message, data, rest, "no")
        except LeaseLost:
            assert not is_ours
        else:
            assert is_ours

    @rule(message=messages)
    def bury(self, message: Message) -> None:
        is_ours = self.model.is_ours(message)
        if is_ours:
            self.model.die([message.id], error=1)
        try:
            bury(self.engine, message, "no")
        except LeaseLost:
            assert not is_ours
        else:
            assert is_ours

    @rule(queue=st.sampled_from(("q", "p")), is_paused=st.sampled_from((True, False, False)))
    def pause(self, queue: str, is_paused: bool) -> None:
        is_new = (queue in self.model.paused) is not is_paused
        if is_paused:
            assert pause(self.engine, queue) is is_new
            self.model.paused.add(queue)
        else:
            assert resume(self.engine, queue) is is_new
            self.model.paused.discard(queue)

    @rule(holder=st.sampled_from(HOLDERS))
    def requeue_held(self, holder: bytes) -> None:
        assert requeue_held(self.engine, holder) == self.model.requeue_held(holder)

    @rule()
    def free_stale_limits(self) -> None:
        assert free_stale_limits(self.engine) == self.model.free_stale_limits()
        for limit in {row.limit for row in self.model.live.values() if row.slot == "blocked"}:
            mates = [row for row in self.model.live.values() if row.limit == limit]
            assert any(row.state == "leased" or row.slot == "called" for row in mates)

    @rule(chance=st.randoms(use_true_random=False), is_retried=st.booleans())
    def end_of_the_dead(self, chance: Any, is_retried: bool) -> None:
        """Some entries of the dead list are pushed again, or discarded."""
        chosen = sorted(chance.sample(range(len(self.dead_ids)), min(2, len(self.dead_ids))))
        ids = [self.dead_ids[index] for index in chosen]
        if is_retried:
            assert retry_dead(self.engine, ids) == len(ids)
            self.retried([self.model.died[index] for index in chosen])
        else:
            assert discard_dead(self.engine, ids) == len(ids)
        for index in reversed(chosen):
            del self.model.died[index], self.dead_ids[index]

    def retried(self, entries: list[Any]) -> None:
        found = read(self.engine, lambda one: execute(one, "SELECT id FROM sakuin_messages").all())
        fresh = sorted({row.id for row in found} - set(self.model.live))
        plain = {one.number: one for one in reversed(entries) if one.key is None}
        first = sorted(plain.values(), key=entries.index)
        for one in first + [entry for entry in entries if all(entry is not it for it in first)]:
            if self.model.waiting_under(one.queue, one.key) is not None:
                continue
            fits = one.number not in self.model.live
            number = one.number if fits else min(n for n in fresh if n not in self.model.live)
            row = Row(one.queue, one.priority, one.data, one.kind, one.key, one.limit, one.to)
            self.appear(number, row)
        for one in entries:
            row_of = self.model.live.get(one.number)
            if one.limit is not None and row_of and row_of.limit is not None:
                row_of.slot = row_of.slot or "waits"

    @rule(chance=st.randoms(use_true_random=False), ends=st.sampled_from((True, True, False)))
    def travel(self, chance: Any, ends: bool) -> None:
        """A lease or a wait comes to its end, or a message that waits expires."""
        state = ("leased", "scheduled") if ends else ("ready",)
        numbers = sorted(n for n, row in self.model.live.items() if row.state in state)
        if not numbers:
            return
        number = chance.choice(numbers)
        row = self.model.live[number]
        if not ends:
            self.run("UPDATE sakuin_messages SET expires_at = '2020-01-01' WHERE id = ?", number)
            row.is_expired = True
        elif row.due is None:
            row.due = row.place = self.become_due(number)
            row.state = "ready"
        else:
            row.place = self.become_due(number, "locked_until")
            row.state = "ready"

    @invariant()
    def the_rows_are_the_models(self) -> None:
        rows, limited, dead = read(
            self.engine,
            lambda one: [execute(one, sql).all() for sql in (_ROWS, _LIMITED, _DEAD)],
        )
        assert {tuple(one) for one in rows} == {
            (
                *(number, row.queue, row.priority, row.data, row.kind),
                *(told(row.key), told(row.held) if row.key is None else rows_held(rows, number)),
                *(told(row.limit, limit=True), row.to, row.attempts, row.errors),
                *(row.token, row.state),
            )
            for number, row in self.model.live.items()
        }
        assert {tuple(one) for one in limited} == {
            (number, told(row.limit, limit=True), SLOTS[row.slot])
            for number, row in self.model.live.items()
            if row.slot is not None
        }
        self.dead_ids = [one.id for one in dead]
        assert [tuple(one)[1:] for one in dead] == [
            (
                *(one.number, one.queue, one.priority, one.data, one.attempts, one.errors),
                *(one.kind, told(one.key), told(one.limit, limit=True), one.to),
            )
            for one in self.model.died
        ]


def rows_held(rows: Any, number: int) -> Any:
    """What is held while the key is in force means nothing."""
    return next(row.held_key for row in rows if row.id == number)


def test_the_queue_is_like_the_model(engine: Engine, stress: Stress) -> None:
    """Q2, Q3, Q4, Q9: pushes, claims, limits, pauses, late and timely ends, death, in any order."""

    class Machine(QueueMachine):
        pass

    Machine.engine = engine
    is_quick = engine.dialect.name == "sqlite"  # a server would take minutes to shrink a failure
    run_state_machine_as_test(
        Machine,
        settings=settings(
            derandomize=True,
            deadline=None,
            phases=[Phase.generate, *[Phase.shrink] * is_quick],
            max_examples=stress.count(400),
            stateful_step_count=40,
        ),
    )
