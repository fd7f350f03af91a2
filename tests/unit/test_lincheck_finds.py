"""`dpor.concurrent` and `dpor lincheck`: broken structures are found by their operations alone, mended ones pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

import dpor
from dpor.cli.main import cli
from dpor.scenarios.answers import WAITS, Answers
from dpor.scenarios.operations import Call
from dpor.scenarios.sizes import Scenario

STRUCTURES = Path(__file__).parents[1] / "programs" / "broken_structures.py"
SMALL = STRUCTURES.with_name("small_classes.py")
SMALLEST = {
    "Counter": "increment() || increment()",
    "Queue": "put('a') -> get() || get()",
    "Stack": "push('a') -> push('a') || pop() -> pop()",
    "Set": "add('a') || add('a')",
    "Map": "get_or_set('a', 0) || get_or_set('a', 1)",
    "Pool": "take() || take()",
    "Cache": "put('a') -> get('a') || put('b')",
    "Limiter": "allow() || allow()",
    "Accounts": "transfer(False) || transfer(True)",
    "ReadWrite": "read() || write()",
    "SequenceLock": "read() || write()",
    "Lazy": "get() || get()",
    "Buffer": "put('a'); get() || get()",
    "Latch": "count_down() || count_down() -> is_open()",
    "Priorities": "put(0) -> take() || take()",
    "Snapshot": "set_both(1) || read()",
}
"""By structure: the smallest scenario in which the broken one fails."""


@pytest.mark.parametrize("name", SMALLEST)
def test_a_broken_structure_is_found_and_made_small(name: str) -> None:
    found = dpor.concurrent(f"{STRUCTURES}::Broken{name}", max_seconds=None)
    assert found.failure is not None
    assert found.failure.scenario == SMALLEST[name]
    assert found.failure.source is not None  # it was written, and failed once more
    assert found.failure.failure.trace


@pytest.mark.parametrize("name", SMALLEST)
def test_a_mended_structure_passes(name: str) -> None:
    # Calls that are recorded and spin are not repeatable yet: then the verdict is inconclusive.
    consistency = "serializable" if name == "SequenceLock" else "linearizable"
    found = dpor.concurrent(f"{STRUCTURES}::Mended{name}", calls=1, consistency=consistency, max_seconds=None)
    assert (found.verdict, found.reasons) == ("pass", ())
    assert found.covered[0].all


def test_a_scenario_is_kept_as_a_test(tmp_path: Path) -> None:
    file = tmp_path / "test_kept.py"
    found = dpor.concurrent(f"{STRUCTURES}::BrokenCounter", save=file)
    assert found.failure is not None
    assert found.failure.file == str(file)
    assert file.read_text() == found.failure.source
    assert "@dpor.interleave\ndef test_brokencounter():" in file.read_text()


# ---------------------------------------------------------------------- how answers are judged


@pytest.mark.parametrize(
    ("consistency", "operations", "verdict"),
    [
        ("linearizable", ["write", "read"], "pass"),
        ("linearizable", ["write", "read", "read_copy"], "fail"),
        ("serializable", ["write", "read", "read_copy"], "fail"),
        ("quiescent", ["write", "read", "read_copy"], "pass"),
    ],
)
def test_consistencies_differ(consistency: str, operations: list[str], verdict: str) -> None:
    """That a thread reads 1, then 0, is wrong only if its calls keep their order."""
    found = dpor.concurrent(f"{SMALL}::Stale", *operations, beginning=0, consistency=consistency)
    assert found.verdict == verdict


def test_calls_of_different_threads_keep_their_order_where_they_are_to_be_linearizable() -> None:
    def verdict(consistency: str) -> str:
        found = dpor.concurrent(
            f"{SMALL}::Register", "write", "read", beginning=0, consistency=consistency, max_seconds=None
        )
        return found.verdict.value

    assert (verdict("linearizable"), verdict("serializable")) == ("fail", "pass")


def test_a_specification_says_which_answers_are_right() -> None:
    assert dpor.concurrent(f"{SMALL}::Strict").verdict == "pass"
    found = dpor.concurrent(f"{SMALL}::Strict", specification=f"{SMALL}::Model")
    assert found.failure is not None
    assert found.verdict == "fail"


# ---------------------------------------------------------------------- in one thread


def test_the_orders_are_those_of_all_permutations() -> None:
    """Brute force: every permutation of the calls that keeps each thread's, on plain objects."""

    def ask(calls: Sequence[Call]) -> list[Any]:
        items: list[str] = []
        answers: list[Any] = []
        for call in calls:
            if call.method == "put":
                items.append(call.args[0])
                answers.append(("put",))
            elif items:
                answers.append(("got", items.pop(0)))
            else:
                break  # it would wait for ever
        return answers

    get, a, b = Call("get"), Call("put", ("a",)), Call("put", ("b",))
    for scenario, stuck in (
        (Scenario((), ((a, get), (b,))), False),
        (Scenario((a,), ((get,), (b, get)), (a,)), False),
        (Scenario((), ((get, a), (b, get))), True),
        (Scenario((), ((get,), (a,), (b,)), (get,)), False),
        (Scenario((), ((get,), (get,), (b,))), True),
    ):
        calls, first = scenario.calls, len(scenario.beginning)
        last = len(calls) - len(scenario.end)
        thread_of = [n for n, made in enumerate(scenario.threads) for _ in made]
        expected = set()
        for order in permutations(range(first, last)):
            kept = [[p for p in order if thread_of[p - first] == n] for n in range(len(scenario.threads))]
            places = [*range(first), *order, *range(last, len(calls))]
            answers = ask([calls[p] for p in places])
            if all(part == sorted(part) for part in kept) and len(answers) == len(calls):
                expected.add(tuple(answer for _, answer in sorted(zip(places, answers, strict=True))))
        orders = Answers(ask, "Queue").orders(scenario)
        assert orders.allowed == expected
        assert orders.stuck == stuck


def test_a_call_that_waits_is_known_as_such() -> None:
    answers = Answers(lambda calls: [("done",)] * min(len(calls), 1), "Once")
    assert answers.after((Call("go"),)) == ("done",)
    assert answers.after((Call("go"), Call("go"))) == WAITS


# ---------------------------------------------------------------------- the command


def test_the_command_and_its_json() -> None:
    done = CliRunner().invoke(cli, ["lincheck", f"{STRUCTURES}::BrokenSet", "add", "--json", "-"])
    assert done.exit_code == 1
    schema = Path(dpor.__file__).parent / "scenarios" / "lincheck.schema.json"
    content = json.loads(done.stdout)
    jsonschema.validate(content, json.loads(schema.read_text()))
    assert content["operations"] == ["add('a')", "add('b')"]
    assert content["failure"]["scenario"] == "add('a') || add('a')"


def test_time_that_is_over_is_told() -> None:
    found = dpor.concurrent(f"{STRUCTURES}::MendedQueue", max_seconds=0)
    assert found.verdict == "inconclusive"
    assert found.reasons == ("--max-seconds 0 reached at 2 threads with 1 call",)
