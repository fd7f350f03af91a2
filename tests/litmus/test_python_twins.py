"""Python twins of programs whose exact number of trace classes is known: `optimal` explores exactly these."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dpor
from dpor.core.options import Order
from tests.programs import twins

KNOWN = [
    *[(twins.readers, (n,), 2**n) for n in (1, 2, 5, 8)],
    *[(twins.lastzero, (n,), number) for n, number in [(1, 2), (2, 5), (3, 12), (4, 28), (5, 64), (8, 704)]],
    *[(twins.filesystem, (n,), 2 ** (n - 13)) for n in (13, 14, 16)],
    *[(twins.indexer, (n,), 8 ** (n - 11)) for n in (11, 12)],
    *[(twins.counter, (2, n), number) for n, number in [(1, 4), (2, 34), (3, 328), (4, 3334)]],
    (twins.counter, (3, 1), 36),
    (twins.counter, (3, 2), 7134),
    (twins.locked_counter, (2, 3), 20),
    (twins.locked_counter, (3, 2), 90),
    *[(twins.philosophers, (n,), 2**n - 1) for n in (2, 3, 4, 5)],
    *[(twins.writers, args, number) for args, number in [((2, 1), 6), ((3, 2), 60), ((4, 2), 360)]],
    *[(twins.sb, (n,), 2**n - 1) for n in (2, 3, 4, 5)],
    *[(twins.fib_bench, (n,), number) for n, number in [(1, 3), (2, 19), (3, 141)]],
    (twins.chen_macdonald, (), 6),
    *[(twins.bounded_buffer, (1, n), number) for n, number in [(1, 2), (2, 8), (3, 32)]],
    *[(twins.bounded_buffer, (2, n), number) for n, number in [(2, 6), (3, 24)]],
    *[(twins.semaphore_buffer, (1, n), 1) for n in (1, 2, 3)],
    *[(twins.semaphore_buffer, (2, n), number) for n, number in [(2, 4), (3, 16)]],
]


@pytest.mark.parametrize(
    ("twin", "args", "classes"), KNOWN, ids=[f"{t.__name__}{a}".replace(" ", "") for t, a, _ in KNOWN]
)
def test_optimal_explores_each_class_once(
    twin: Callable[..., Callable[[], object]], args: tuple[int, ...], classes: int
) -> None:
    report = dpor.check(twin(*args), strategy="optimal", all=True, max_seconds=None)
    assert (report.executions, report.blocked) == (classes, 0)
    assert report.exhaustive


@pytest.mark.parametrize("order", [Order.PREEMPTIONS, Order.RANDOM])
@pytest.mark.parametrize(
    ("twin", "args", "classes"),
    [known for known in KNOWN if known[2] <= 130],
    ids=[f"{t.__name__}{a}".replace(" ", "") for t, a, classes in KNOWN if classes <= 130],
)
def test_so_it_does_in_every_order(
    twin: Callable[..., Callable[[], object]], args: tuple[int, ...], classes: int, order: Order
) -> None:
    report = dpor.check(twin(*args), strategy="optimal", order=order, seed=3, all=True, max_seconds=None)
    assert (report.executions, report.blocked, report.exhaustive) == (classes, 0, True)
