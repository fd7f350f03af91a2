"""Two calls fail at the same time: circuitbreaker has no lock, so it may count one."""

import threading

from circuitbreaker import CircuitBreaker, CircuitBreakerError


def counted_exactly() -> None:
    breaker = CircuitBreaker(failure_threshold=3)

    @breaker
    def fail() -> None:
        raise ValueError

    def call() -> None:
        try:
            fail()
        except (ValueError, CircuitBreakerError):
            pass

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert breaker.failure_count == 2, f"failed 2 times, counted {breaker.failure_count}"
