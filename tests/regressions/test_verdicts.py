"""Python programs that once had a wrong verdict, made small."""

from __future__ import annotations

import array
import collections.abc
import copy
import inspect
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

import pytest

import dpor
from dpor.core.errors import BadTarget


def both(*bodies: Any) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def outcomes(program: Any) -> int:
    return dpor.check(program, all=True, max_seconds=None).outcomes


def test_attributes_of_a_plain_exception_are_shared() -> None:
    def program() -> Any:
        error: Any = Exception()
        error.n = 0

        def add() -> None:
            error.n += 1

        both(add, add)
        return error.n

    assert outcomes(program) == 2


def test_the_arguments_of_an_exception_are_shared() -> None:
    def program() -> Any:
        error, seen = Exception(0), []

        def write() -> None:
            error.args = (1,)

        both(write, lambda: seen.append(error.args))
        return seen

    assert outcomes(program) == 2


def test_attributes_of_the_main_thread_are_shared() -> None:
    def program() -> Any:
        me: Any = threading.current_thread()
        me.n = 0

        def add() -> None:
            me.n += 1

        both(add, add)
        return me.n

    assert outcomes(program) == 2


def test_a_hash_that_changes_what_is_shared_is_not_passed_over() -> None:
    class Key:
        hashed = 0

        def __hash__(self) -> int:
            Key.hashed += 1
            return 1

    def program() -> None:
        table: dict[Key, int] = {}
        key = Key()

        def store() -> None:
            table[key] = 1

        both(store, store)

    report = dpor.check(program)
    assert report.verdict == "inconclusive"
    assert any("unseen" in reason for reason in report.reasons)


def test_a_generator_function_is_no_target() -> None:
    def program() -> Any:
        yield 1

    with pytest.raises(BadTarget, match="generator function"):
        dpor.check(program)


def test_a_program_that_exits_with_a_message_has_failed() -> None:
    def program() -> None:
        sys.exit("lost")

    assert dpor.check(program).findings[0].message == "SystemExit: lost"


def test_the_environment_begins_anew() -> None:
    def program() -> Any:
        os.environ["DPOR_TEST"] = os.environ.get("DPOR_TEST", "") + "x"
        both(lambda: None, lambda: None)
        return os.environ["DPOR_TEST"]

    assert outcomes(program) == 1
    assert "DPOR_TEST" not in os.environ


def test_methods_of_a_built_in_base_class_are_operations() -> None:
    class Log(list):  # type: ignore[type-arg]
        def append(self, value: int) -> None:
            super().append(value)

    def program() -> Any:
        log = Log()
        both(lambda: log.append(1), lambda: log.append(2))
        return list(log)

    assert outcomes(program) == 2


def test_a_thread_that_ends_before_one_that_it_started() -> None:
    def program() -> None:
        def parent() -> None:
            threading.Thread(target=lambda: None).start()

        both(parent)

    assert dpor.check(program).verdict == "pass"


def test_who_times_out_first_when_nothing_else_can_move() -> None:
    def program() -> Any:
        event, seen = threading.Event(), []

        def look() -> None:
            event.wait(1)
            seen.append(event.is_set())

        def set_late() -> None:
            event.wait(1)
            event.set()

        both(look, set_late)
        return seen

    for strategy in ("none", "optimal", "source", "classic"):
        assert dpor.check(program, all=True, timeouts="idle", strategy=strategy).outcomes == 2


def test_a_pool_that_an_earlier_program_of_the_process_has_left_shut_down_is_opened_again() -> None:
    def program() -> None:
        from concurrent.futures import ThreadPoolExecutor

        ThreadPoolExecutor(1).submit(int)

    assert [dpor.check(program).verdict for _ in range(2)] == ["pass", "pass"]


def test_a_finaliser_that_waits_for_a_deadline_between_runs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # how a finaliser that is given up ends

    def program() -> None:
        def cleaning() -> Any:
            try:
                yield
            finally:
                end = time.monotonic() + 1
                while time.monotonic() < end:
                    time.sleep(0.1)

        def fail() -> None:
            held = cleaning()
            next(held)
            raise ValueError  # whose traceback holds it until the next run begins

        both(fail, fail)

    assert dpor.check(program, all=True).verdict == "fail"
    dpor.check(lambda: None)  # the last run's finalisers die here, not in a later test


def test_a_finaliser_that_finds_a_lock_taken_when_a_run_is_over_gives_it_back_quietly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)

    def program() -> None:
        changed = threading.Condition()
        held = threading.Event()

        def cleaning() -> Any:
            try:
                yield
            finally:
                with changed:
                    changed.notify()

        def hold() -> None:
            with changed:
                held.set()
                threading.Event().wait()

        def fail() -> None:
            held.wait()
            left = cleaning()
            next(left)
            threading.Event().wait()

        both(fail, hold)

    assert dpor.check(program, all=True).verdict == "fail"
    dpor.check(lambda: None)  # the last run's finalisers die here
    assert said == []


def test_what_only_the_methods_of_a_class_refer_to_is_not_missed_when_another_thread_has_it() -> None:
    """The first thread touches it before the second, which has it from elsewhere, is started."""

    class Cell:
        n = 0

    def program() -> Any:
        cell, seen = Cell(), []

        class Reader:
            @property
            def value(self) -> int:
                return cell.n

        reader = Reader()

        def write() -> None:
            cell.n = 1

        both(lambda: seen.append((reader.value, reader.value)), write)
        return seen

    assert outcomes(program) == 3


def test_bytes_of_memory_are_its_bytes_whatever_the_items() -> None:
    def program() -> Any:
        memory = bytearray(8)
        view = memoryview(memory).cast("I")
        numbers = array.array("I", [1, 300])
        seen = []

        def write() -> None:
            view[1] = 300
            numbers[0] = 2

        both(write, lambda: seen.append((len(bytes(view)), bytes(numbers)[0], len(bytearray(view)))))
        return seen, bytes(view), bytes(numbers) == numbers.tobytes()

    assert outcomes(program) == 2


def test_the_tasks_of_asyncio_are_known_whoever_imports_it_first(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(
        "import asyncio\n\nasync def main():\n    assert asyncio.current_task() in asyncio.all_tasks()\n\n"
        "def scenario():\n    asyncio.run(main())\n"
    )
    command = [sys.executable, "-m", "dpor", "check", "tasks.py::scenario"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 1


@pytest.mark.parametrize("ends", [False, True])
def test_a_shared_generator_that_would_clean_up_is_not_passed_over(ends: bool) -> None:
    class Box:
        n = 1

    def program() -> Any:
        box = Box()

        def numbers() -> Any:
            try:
                yield 1
            finally:
                setattr(box, "n", 2)  # noqa: B010

        made = numbers()
        next(made)
        holder = [made]
        del made
        seen = []

        def drop() -> None:
            if ends:
                holder[0].close()
            holder.clear()

        both(lambda: seen.append((box.n, box.n)), drop)
        return seen

    report = dpor.check(program, all=True, max_seconds=None)
    assert (report.verdict, report.outcomes) == (dpor.Verdict.PASS, 3)


class Node:
    def __init__(self, child: Any = None) -> None:
        self.child, self.n = child, 0


class Copied(Node):
    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        memo[id(self)] = self
        return Copied(copy.deepcopy(self.child, memo))


def test_keys_of_a_memo_are_identities() -> None:
    def given() -> Any:
        node = Node()
        both(lambda: setattr(copy.deepcopy([node], {id(node): node})[0], "n", 1), lambda: setattr(node, "n", 2))
        return node.n

    def made() -> Any:
        node = Copied()
        node.child = [node]
        both(lambda: setattr(copy.deepcopy(node).child[0], "n", 1), lambda: setattr(node, "n", 2))
        return node.n

    def none() -> Any:
        node = Node()
        both(lambda: setattr(copy.deepcopy(node, None), "n", 1), lambda: setattr(node, "n", 2))
        return node.n

    assert [outcomes(program) for program in (given, made, none)] == [2, 2, 1]


def test_mixins_called_on_built_in_containers_are_not_passed_over() -> None:
    def mapping() -> Any:
        table, seen = {"x": 1}, []
        both(
            lambda: collections.abc.MutableMapping.update(table, x=2),  # type: ignore[arg-type]
            lambda: seen.append((table["x"], table["x"])),
        )
        return seen

    def sequence() -> Any:
        items, seen = [1], []
        both(
            lambda: collections.abc.MutableSequence.extend(items, [2]),  # type: ignore[arg-type]
            lambda: seen.append((len(items), len(items))),
        )
        return seen

    assert [outcomes(program) for program in (mapping, sequence)] == [3, 3]
    assert dpor.check(mapping).verdict is dpor.Verdict.PASS


def test_which_hook_hears_of_an_exception_depends_on_when_it_is_replaced() -> None:
    def program() -> Any:
        heard: list[str] = []
        threading.excepthook = lambda args: heard.append(args.thread.name)
        worker = threading.Thread(target=lambda: [].pop(), name="worker")
        worker.start()
        threading.excepthook = threading.__excepthook__
        worker.join()
        return heard

    assert outcomes(program) == 2


@runtime_checkable
class Closes(Protocol):
    def close(self) -> None: ...


def test_the_members_of_a_protocol_are_looked_for_in_objects_and_classes() -> None:
    class File:
        close: Any

    def in_object() -> Any:
        file, seen = File(), []
        both(lambda: seen.append(isinstance(file, int | Closes)), lambda: setattr(file, "close", int))
        return seen

    def in_class() -> Any:
        class Other:
            pass

        seen: list[bool] = []
        both(lambda: seen.append(issubclass(Other, (str, Closes))), lambda: setattr(Other, "close", int))
        return seen

    assert (outcomes(in_object), outcomes(in_class)) == (2, 2)


def test_several_members_of_a_protocol_that_change_make_a_check_inconclusive() -> None:
    @runtime_checkable
    class Pair(Protocol):
        left: int
        right: int

    def program() -> None:
        pair: Any = SimpleNamespace()

        def fill() -> None:
            pair.left = 1
            pair.right = 2

        both(fill, lambda: isinstance(pair, Pair))

    report = dpor.check(program)
    assert report.verdict == "inconclusive", report
    assert "a protocol of several members" in report.reasons[0]


def test_values_of_a_thread_die_with_it_though_nobody_has_used_the_local_object_since() -> None:
    class Connection:
        def __init__(self, log: list[str]) -> None:
            self.log = log

        def __del__(self) -> None:
            self.log.append("closed")

    def program() -> Any:
        local, log = threading.local(), list[str]()
        worker = threading.Thread(target=lambda: setattr(local, "connection", Connection(log)))
        worker.start()
        worker.join()
        assert log == ["closed"]
        return local

    assert dpor.check(program).findings == ()


def test_the_names_that_getmembers_finds_in_a_class_depend_on_other_threads() -> None:
    def program() -> Any:
        class Plugins:
            pass

        seen: list[bool] = []
        both(
            lambda: seen.append("added" in dict(inspect.getmembers(Plugins))),
            lambda: setattr(Plugins, "added", 1),
        )
        return seen

    assert outcomes(program) == 2


def test_two_threads_that_run_one_thread_object_race_for_its_target(tmp_path: Path) -> None:
    """Whoever comes second finds no target any more (from 3.13 on, it notices before). The search did not know why, and
    went on with a thread that had ended."""
    file = tmp_path / "program.py"
    file.write_text(
        """
import threading

def scenario():
    def look():
        t

    def again():
        try:
            t.start()
        except RuntimeError:
            return
        t.is_alive()

    threads = [threading.Thread(target=body) for body in (look, again, look)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
"""
    )
    report = dpor.check(f"{file}::scenario", all=True, order="random", max_executions=300)
    expected = {"KeyError"} if sys.version_info >= (3, 13) else {"AttributeError", "RuntimeError"}
    assert {finding.message.partition(":")[0] for finding in report.findings} == expected


def test_nobody_is_inside_a_generator_whose_code_does_not_run() -> None:
    """It has ended, or is closed before it has begun."""

    def program() -> None:
        ended, fresh = (n for n in ()), (n for n in (1, 2))
        next(ended, None)
        both(
            lambda: (next(ended, None), fresh.close()),
            lambda: (next(ended, None), fresh.close()),
        )

    assert dpor.check(program).verdict == "pass"
