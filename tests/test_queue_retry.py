"""The retry policy as a value."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sakuin.queue import RetryPolicy

policies = st.builds(
    RetryPolicy,
    max_attempts=st.integers(1, 65_535),
    first_seconds=st.just(0.0) | st.floats(0.001, 100),
    most_seconds=st.floats(100, 10_000),
    jitter=st.floats(0, 1),
)


@given(policies, st.integers(0, 100_000), st.floats(0, 1))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_the_wait_is_doubled_capped_and_spread(
    policy: RetryPolicy, attempts: int, chance: float
) -> None:
    """Q4: first_seconds x 2^(attempts - 1), at most most_seconds, within the jitter."""
    plain = policy.first_seconds
    for _ in range(min(attempts, 2_000) - 1):
        plain = min(plain * 2, policy.most_seconds)
    plain = min(plain, policy.most_seconds)
    wait = policy.delay_seconds(attempts, chance)
    slack = 1e-9 * plain
    assert plain * (1 - policy.jitter) - slack <= wait <= plain * (1 + policy.jitter) + slack
    assert policy.delay_seconds(attempts, 0.5) == pytest.approx(plain)


def test_the_usual_waits() -> None:
    policy = RetryPolicy(jitter=0)
    assert [policy.delay_seconds(n, 0.7) for n in (1, 2, 3, 4, 20)] == [1, 2, 4, 8, 300]
    assert [policy.is_spent(n) for n in (4, 5, 6)] == [False, True, True]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_attempts": 0}, "max_attempts=0"),
        ({"max_attempts": 70_000}, "max_attempts"),
        ({"first_seconds": -1}, "first_seconds"),
        ({"first_seconds": 9, "most_seconds": 8}, "first_seconds"),
        ({"most_seconds": float("inf")}, "most_seconds"),
        ({"jitter": 1.1}, "jitter"),
        ({"alone_after": 0}, "alone_after"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(options: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        RetryPolicy(**options)  # type: ignore[arg-type]
