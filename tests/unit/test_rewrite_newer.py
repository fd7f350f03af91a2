"""Syntax of Pythons newer than the oldest that is supported: each program is made only where it can be compiled."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

import dpor
from tests.source_outcomes import PREAMBLE


def check(tmp_path: Path, source: str) -> dpor.Report:
    (tmp_path / "program.py").write_text(PREAMBLE + dedent(source))
    return dpor.check(f"{tmp_path / 'program.py'}::scenario")


if sys.version_info >= (3, 14):

    def test_a_template_reads_its_values(tmp_path: Path) -> None:
        report = check(
            tmp_path,
            """
            class Box: pass
            def scenario():
                box, seen = Box(), []
                box.x = 0
                def change(): box.x = 1
                run(change, lambda: seen.extend(t"{box.x}{box.x:{box.x}}".values))
                assert seen[0] == seen[1]
            """,
        )
        assert report.verdict == "fail"

    def test_exceptions_need_no_parentheses(tmp_path: Path) -> None:
        report = check(
            tmp_path,
            """
            def scenario():
                d = {}
                def look():
                    try:
                        d["a"]
                    except KeyError, IndexError:
                        d["b"] = 1
                run(look, lambda: d.setdefault("a", 1))
                return "b" in d
            """,
        )
        assert sorted(report.outcome_digests.values()) == ["returned False", "returned True"]

    @pytest.mark.parametrize(
        ("look", "outcomes"),
        [
            ("list(map(int.__add__, l, [1, 2], strict=True))", {"[2, 4]", "ValueError"}),
            ("functools.reduce(int.__add__, l, initial=1)", {"4", "7"}),
        ],
    )
    def test_new_arguments_of_functions(tmp_path: Path, look: str, outcomes: set[str]) -> None:
        report = check(
            tmp_path,
            f"""
            import functools
            def scenario():
                l, seen = [1, 2], []
                def look():
                    try:
                        seen.append({look})
                    except ValueError as error:
                        seen.append(type(error))
                run(look, lambda: l.append(3))
                return str(seen[0]).removeprefix("<class '").removesuffix("'>")
            """,
        )
        assert set(report.outcome_digests.values()) == {f"returned {outcome!r}" for outcome in outcomes}

    @pytest.mark.parametrize("call", ["os.reload_environ()", "os.readinto(os.pipe()[0], bytearray(1))"])
    def test_new_functions_of_os_are_refused(tmp_path: Path, call: str) -> None:
        report = check(tmp_path, f"import os\ndef scenario(): run(lambda: {call})")
        assert f"Unsupported: {call.partition('(')[0]}" in report.reasons[0]


if sys.version_info >= (3, 15):

    def test_lazy_imports_are_refused(tmp_path: Path) -> None:
        with pytest.raises(dpor.UserError, match=r"program\.py:10: `lazy import` is not under control"):
            check(tmp_path, "lazy import helper\ndef scenario(): helper.VALUE")

    def test_comprehensions_unpack(tmp_path: Path) -> None:
        """A list at once, what a generator gives one by one."""
        report = check(
            tmp_path,
            """
            def scenario():
                items, lists, steps = [1, 2], [], []
                def change():
                    items[1] = 3
                    items[0] = 5
                def look():
                    lists.extend([*part for part in [items]])
                    steps.extend(*part for part in [items])
                run(change, look)
                return {*part for part in [lists]} >= {1, 2, 3}, lists == [1, 3], steps == [1, 3]
            """,
        )
        assert report.exhaustive
        assert "returned (False, True, True)" in report.outcome_digests.values()

    @pytest.mark.parametrize(
        ("made", "outcome"),
        [
            ("one = other = threading.serialize_iterator(numbers())", [1, 2]),
            ("one, other = threading.concurrent_tee(numbers(), 2)", [1, 1]),
        ],
    )
    def test_tools_of_threading_for_iterators(tmp_path: Path, made: str, outcome: list[int]) -> None:
        """A thread that comes while another advances the iterator waits for it."""
        report = check(
            tmp_path,
            f"""
            def numbers():
                yield from (1, 2)
            def scenario():
                seen = []
                {made}
                run(lambda: seen.append(next(one)), lambda: seen.append(next(other)))
                return sorted(seen)
            """,
        )
        assert (report.verdict, list(report.outcome_digests.values())) == ("pass", [f"returned {outcome}"])
