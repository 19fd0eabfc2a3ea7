import pytest

from chat.llm.base import ErrorKind, ModelError
from chat.llm.breaker import Breaker, breaker_for
from chat.llm.config import BreakerLimits


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(BreakerLimits(failures=3, seconds=30), clock)


def fail(breaker: Breaker, times: int = 1, kind: ErrorKind = ErrorKind.SERVER) -> None:
    for _ in range(times):
        breaker.enter().fail(kind)


def is_open(breaker: Breaker) -> bool:
    try:
        breaker.enter().release()
    except ModelError as error:
        return error.kind is ErrorKind.CIRCUIT_OPEN
    return False


def test_opens_after_failures_in_a_row(breaker: Breaker) -> None:
    fail(breaker, 2)
    assert not is_open(breaker)
    fail(breaker)
    assert is_open(breaker)


def test_a_success_between_counts_from_the_start(breaker: Breaker) -> None:
    fail(breaker, 2)
    breaker.enter().succeed()
    fail(breaker, 2)
    assert not is_open(breaker)


def test_what_the_provider_is_not_to_blame_for_does_not_count(breaker: Breaker) -> None:
    fail(breaker, 9, ErrorKind.AUTH)
    fail(breaker, 9, ErrorKind.TOO_LONG)
    assert not is_open(breaker)


def test_says_how_long(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 9
    with pytest.raises(ModelError, match=r"failed 3 times in a row.*again in 21 seconds") as caught:
        breaker.enter()
    assert caught.value.retryable
    assert caught.value.retry_after == 21


def test_lets_one_call_probe(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    probe = breaker.enter()
    assert is_open(breaker)
    probe.succeed()
    assert not is_open(breaker)


def test_a_failed_probe_opens_it_again(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    fail(breaker)
    assert is_open(breaker)
    clock.now += 30
    breaker.enter().succeed()
    assert not is_open(breaker)


def test_a_probe_that_was_given_up_lets_the_next_one_through(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    breaker.enter().release()
    breaker.enter().succeed()
    assert not is_open(breaker)


def test_a_permit_counts_once(breaker: Breaker) -> None:
    permit = breaker.enter()
    permit.succeed()
    permit.fail(ErrorKind.SERVER)
    permit.fail(ErrorKind.SERVER)
    permit.fail(ErrorKind.SERVER)
    assert not is_open(breaker)


def test_one_for_each_provider() -> None:
    limits = BreakerLimits()
    assert breaker_for("http://one.test", limits) is breaker_for("http://one.test", limits)
    assert breaker_for("http://one.test", limits) is not breaker_for("http://two.test", limits)
