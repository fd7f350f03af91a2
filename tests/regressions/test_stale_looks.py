"""Operations that look at more than one object: what is nested may be another by the time that they happen, and an
iterator remembers how long its container was when it was made."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

import dpor
from dpor.explorers import STATEFUL, STATELESS
from tests.source_outcomes import PREAMBLE, outcomes

LOOKS = [
    "str(outer)",
    "f'{outer}'",
    "'%s' % (outer,)",
    "[[[4]]] == [outer] or outer[0] == [0]",
    "outer > [[0], 1]",
    "[4] in outer",
    "outer.count([4])",
    "outer.copy().__repr__()",
    "str(copy.deepcopy(outer))",
    "json.dumps(outer)",
    "pickle.dumps(outer)",
    "max(outer)",
    "str(dict(k=outer))",
    "functools.cache(str)(tuple(map(tuple, outer)))",
]

NESTED = """
import copy, functools, json, pickle

def scenario():
    outer, seen = [[0]], []

    def look():
        try:
            seen.append({look})
        except TypeError as error:
            seen.append(str(error))

    def change():
        outer[0] = [4]
        outer[0].append(5)

    run(look, change)
    return seen[0]
"""


@pytest.mark.parametrize("look", LOOKS)
def test_what_is_nested_is_replaced_and_then_changed(look: str, tmp_path: Path) -> None:
    """The looking thread waits before its look already when the other replaces the inner list."""
    source = NESTED.replace("{look}", look)
    assert outcomes(tmp_path, source) >= outcomes(tmp_path, source, "none")


@pytest.mark.parametrize("strategy", [*STATELESS, *STATEFUL])
@pytest.mark.parametrize("seen", ["[[0]]", "[[4]]", "[[4, 5]]"])
def test_every_strategy_sees_it(seen: str, strategy: str, tmp_path: Path) -> None:
    source = NESTED.replace("{look}", "str(outer)").replace("return seen[0]", f"assert seen[0] != '{seen}'")
    file = tmp_path / "program.py"
    file.write_text(PREAMBLE + source)
    assert dpor.check(f"{file}::scenario", strategy=strategy).verdict == "fail"


TAKING = """
import queue

def scenario():
    fifo, seen = queue.Queue(1), []

    def both():
        fifo.put_nowait(1)
        seen.append(fifo.get())

    def take():
        seen.append(fifo.get())

    run(both, take)
"""


def test_a_repeated_run_comes_to_the_state_that_it_came_to_before(tmp_path: Path) -> None:
    """How many events there had been when a thread yielded was part of the state."""
    file = tmp_path / "program.py"
    file.write_text(PREAMBLE + TAKING)
    report = dpor.check(f"{file}::scenario", strategy="original", all=True)
    assert report.exhaustive
    assert {finding.kind.value for finding in report.findings} == {"deadlock"}


DAEMON = NESTED.replace("{look}", "str(outer)").replace(
    "run(look, change)",
    "looking = threading.Thread(target=look, daemon=True)\n    looking.start()\n    change()\n    looking.join()",
)


def test_what_is_nested_is_replaced_while_a_daemon_thread_looks(tmp_path: Path) -> None:
    assert outcomes(tmp_path, DAEMON) == {"[[0]]", "[[4]]", "[[4, 5]]"}


ITERATED = """
import collections, types

def scenario():
    table, seen = {made}, []

    def look():
        try:
            iterator = {iterator}
            seen.append({use})
        except RuntimeError:
            seen.append("changed")

    def change():
        table.update(k=1)

    run(look, change)
    return seen[0]
"""


ITERATORS = [
    *("iter(table)", "iter(table.values())", "iter(table.items())", "table.__iter__()"),
    *("reversed(table)", "reversed(table.values())", "table.__reversed__()"),
    *("table.values().__iter__()", "iter(types.MappingProxyType(table))", "next(map(iter, [table.values()]))"),
]
USES = ["next(iterator) and 1", "iterator.__next__() and 1", "len([*iterator])"]


@pytest.mark.parametrize("made", ["{'p': 0}", "collections.OrderedDict(p=0)"])
@pytest.mark.parametrize(("iterator", "use"), [*zip(ITERATORS, cycle(USES), strict=False)])
def test_an_iterator_knows_how_long_its_container_was(made: str, iterator: str, use: str, tmp_path: Path) -> None:
    source = ITERATED.format(made=made, iterator=iterator, use=use)
    assert "changed" in outcomes(tmp_path, source)


def test_a_view_of_memory_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    """It was kept until the run ended, so that its memory could not be made longer."""
    source = """
    def scenario():
        data = bytearray(b"ab")

        def look():
            return memoryview(data)[0]

        def grow():
            look()
            data.extend(b"c")

        run(look, grow)
        return len(data)
    """
    assert outcomes(tmp_path, source) == {
        3,
        ("Thread-2 (grow): BufferError: Existing exports of data: object cannot be re-sized",),
    }
