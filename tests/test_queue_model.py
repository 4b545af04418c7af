"""The queue against a plain dict: any sequence of verbs leaves the same messages in both."""

from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Engine

from conftest import Stress
from sakuin.queue import (
    LeaseLost,
    Message,
    RetryPolicy,
    ack,
    bury,
    bury_part,
    claim,
    dead_messages,
    extend,
    fail,
    push,
    read,
    release,
    replay,
    shrink,
)
from sakuin.queue.dialect import execute

POLICY = RetryPolicy(max_attempts=4, first_seconds=500, most_seconds=500, alone_after=2)


@dataclass(slots=True)
class Model:
    """What one message should be like."""

    priority: int
    data: bytes
    state: str = "ready"
    attempts: int = 0
    token: bytes | None = None
    key: str | None = None


class QueueMachine(RuleBasedStateMachine):
    """Every rule does one thing to the database and the same to the model.

    Time never passes by itself here: `travel` ends a lease or a wait. Each message keeps the
    place of its push, so the order of the ready ones is (priority, id).
    """

    engine: Engine
    messages = Bundle("messages")

    def __init__(self) -> None:
        super().__init__()
        self.live: dict[int, Model] = {}
        self.dead: list[tuple[int, bytes]] = []
        for table in ("sakuin_messages", "sakuin_dead"):
            self.run(f"DELETE FROM {table}")

    def run(self, sql: str, **options: Any) -> None:
        replay(self.engine, lambda connection: execute(connection, sql, **options))

    def is_ours(self, message: Message) -> bool:
        found = self.live.get(message.id)
        return found is not None and found.token == message.token

    @rule(
        priority=st.sampled_from((0, 5, 5, 5, 255)),
        data=st.binary(max_size=4),
        is_delayed=st.booleans(),
        key=st.sampled_from((None, None, None, "k", "j")),
    )
    def push(self, priority: int, data: bytes, is_delayed: bool, key: str | None) -> None:
        waiting = [number for number, one in self.live.items() if key and one.key == key]
        options: dict[str, Any] = {"priority": priority, "unique_key": key}
        number = replay(
            self.engine,
            lambda connection: push(
                connection, "q", data, delay_seconds=500.0 * is_delayed, **options
            ),
        )
        if waiting:
            assert [number] == waiting
            return
        assert number not in self.live
        state = "scheduled" if is_delayed else "ready"
        self.live[number] = Model(priority, data, state, key=key)

    @rule(limit=st.integers(1, 6), target=messages)
    def claim(self, limit: int) -> Any:
        got = claim(self.engine, "q", limit=limit, lease_seconds=500, policy=POLICY)
        expected = self.expect_claim(limit)
        assert [(one.id, one.data, one.priority, one.attempts) for one in got] == [
            (number, self.live[number].data, self.live[number].priority, attempts)
            for number, attempts in expected
        ]
        for one in got:
            found = self.live[one.id]
            found.state, found.attempts, found.token = "leased", one.attempts, one.token
            found.key = None
        return multiple(*got)

    def expect_claim(self, limit: int) -> list[tuple[int, int]]:
        """Return (id, attempts) of what a claim should give, and bury what it should bury."""
        while True:
            ready = [number for number, one in self.live.items() if one.state == "ready"]
            ready.sort(key=lambda number: (self.live[number].priority, number))
            window = ready[:limit]
            spent = [number for number in window if self.live[number].attempts >= 4]
            for number in spent:
                self.dead.append((number, self.live.pop(number).data))
            taken: list[tuple[int, int]] = []
            for number in window:
                if number in spent:
                    continue
                attempts = self.live[number].attempts
                if attempts >= 2 and taken:
                    break
                taken.append((number, attempts + 1))
                if attempts >= 2:
                    break
            if taken or not spent:
                return taken

    @rule(batch=st.lists(messages, max_size=4), verb=st.sampled_from(("ack", "release", "extend")))
    def settle(self, batch: list[Message], verb: str) -> None:
        lost = {one.id for one in batch if not self.is_ours(one)}
        ours = {one.id for one in batch if self.is_ours(one)}
        acts: dict[str, Any] = {
            "ack": lambda: ack(self.engine, batch),
            "release": lambda: release(self.engine, batch),
            "extend": lambda: extend(self.engine, batch, 500),
        }
        assert acts[verb]() == lost
        for number in ours:
            if verb == "ack":
                del self.live[number]
            elif verb == "release":
                found = self.live[number]
                found.state, found.token = "ready", None
                found.attempts -= 1
            else:
                self.live[number].state = "leased"

    @rule(message=messages)
    def fail(self, message: Message) -> None:
        lost = fail(self.engine, [message], "no", policy=POLICY)
        assert lost == (set() if self.is_ours(message) else {message.id})
        if not lost:
            found = self.live[message.id]
            if found.attempts >= 4:
                self.dead.append((message.id, self.live.pop(message.id).data))
            else:
                found.state, found.token = "scheduled", None

    @rule(message=messages, data=st.binary(max_size=4))
    def shrink(self, message: Message, data: bytes) -> None:
        assert shrink(self.engine, message, data) is self.is_ours(message)
        if self.is_ours(message):
            self.live[message.id].data = data

    @rule(message=messages, rest=st.none() | st.just(b"rest"))
    def bury_part(self, message: Message, rest: bytes | None) -> None:
        try:
            bury_part(self.engine, message, b"part", rest, "no")
        except LeaseLost:
            assert not self.is_ours(message)
            return
        assert self.is_ours(message)
        self.dead.append((message.id, b"part"))
        if rest is None:
            del self.live[message.id]
        else:
            self.live[message.id].data = rest

    @rule(message=consumes(messages))
    def bury(self, message: Message) -> None:
        try:
            bury(self.engine, message, "no")
        except LeaseLost:
            assert not self.is_ours(message)
            return
        assert self.is_ours(message)
        self.dead.append((message.id, self.live.pop(message.id).data))

    @rule(chance=st.randoms(use_true_random=False))
    def travel(self, chance: Any) -> None:
        """A lease or a wait comes to its end."""
        waiting = sorted(number for number, one in self.live.items() if one.state != "ready")
        if waiting:
            number = chance.choice(waiting)
            self.run(
                "UPDATE sakuin_messages SET locked_until = created_at, due_at = created_at"
                " WHERE id IN ({ids})",
                ids=[number],
            )
            self.live[number].state = "ready"

    @invariant()
    def the_rows_are_the_models(self) -> None:
        sql = (
            "SELECT id, priority, data, attempts, token,"
            " CASE WHEN locked_until <= {now} THEN 'ready' WHEN token IS NULL THEN 'scheduled'"
            " ELSE 'leased' END FROM sakuin_messages"
        )
        rows = read(self.engine, lambda connection: execute(connection, sql).all())
        assert {tuple(one) for one in rows} == {
            (number, one.priority, one.data, one.attempts, one.token, one.state)
            for number, one in self.live.items()
        }
        found = read(self.engine, lambda connection: dead_messages(connection, limit=1000))
        assert sorted((one.message_id, one.data) for one in found) == sorted(self.dead)


def test_the_queue_is_like_the_model(engine: Engine, stress: Stress) -> None:
    """Q2, Q3, Q4, Q9: pushes, claims, late and timely settling, expiry and death in any order."""

    class Machine(QueueMachine):
        pass

    Machine.engine = engine
    run_state_machine_as_test(
        Machine,
        settings=settings(
            derandomize=True,
            deadline=None,
            max_examples=stress.count(300),
            stateful_step_count=40,
        ),
    )
