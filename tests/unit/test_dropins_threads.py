"""`Thread` and the functions around it."""

from __future__ import annotations

import sys
import threading as real
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.under_control import explore, once, outcomes, stdlib
from tests.words_of_python import BY_ZERO

threading: Any = stdlib.module_for_program("threading")


def said(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def test_misuse_is_answered_as_by_the_real_one() -> None:
    def misused(module: Any) -> Any:
        thread = module.Thread(target=lambda: None)
        texts = [said(thread.join)]
        thread.start()
        thread.join()
        texts += [said(thread.start), said(thread.join), said(lambda: setattr(thread, "daemon", True))]
        texts += [said(module.current_thread().join), said(lambda: module.Thread(group=1))]
        texts += [said(type("Bare", (module.Thread,), {"__init__": lambda self: None})().start)]
        return texts

    assert once(lambda: misused(threading)) == misused(real)


def test_names_are_numbered_anew_in_each_run() -> None:
    def named(module: Any) -> Any:
        def work() -> None: ...

        threads = [
            module.Thread(target=work),
            module.Thread(),
            module.Thread(name="mine"),
            module.Thread(name=7),
            module.Thread(target=real.Thread),
            module.Thread(target=type("Callable", (), {"__call__": lambda self: None})()),
        ]
        return [thread.name for thread in threads]

    expected = ["Thread-1 (work)", "Thread-2", "mine", "7", "Thread-3 (Thread)", "Thread-4"]
    assert once(lambda: named(threading)) == expected
    assert once(lambda: named(threading)) == expected


def test_reprs_say_what_the_real_ones_say() -> None:
    def told(module: Any) -> Any:
        thread = module.Thread(target=lambda: texts.append(repr(module.current_thread())), name="t", daemon=False)
        texts = [repr(thread)]
        thread.start()
        thread.join()
        texts.append(repr(thread))
        texts.append(repr(module.Thread(name="d", daemon=True)))
        return [text.replace(str(thread.ident), "IDENT") for text in texts]

    assert once(lambda: told(threading)) == told(real)


def test_what_is_asked_of_a_thread() -> None:
    def asked(module: Any) -> Any:
        inside: list[Any] = []

        def work() -> None:
            me = module.current_thread()
            inside.extend([me is thread, me.ident == module.get_ident(), me.is_alive(), me.native_id is not None])

        thread = module.Thread(target=work)
        before = [thread.ident, thread.native_id, thread.is_alive(), thread.daemon]
        thread.start()
        thread.join()
        main = module.main_thread()
        return [
            *before,
            *inside,
            thread.is_alive(),
            thread.ident is not None,
            main is module.current_thread(),
            main.name,
            main.is_alive(),
            main.daemon,
            main.ident == module.get_ident(),
            isinstance(main, module.Thread),
            main._started.is_set(),
            thread._started.is_set(),
            module.Thread()._started.is_set(),
        ]

    assert once(lambda: asked(threading)) == asked(real)


def test_arguments_reach_the_target() -> None:
    def program() -> Any:
        got: list[Any] = []
        workers = [
            threading.Thread(target=lambda *args, **kwargs: got.append((args, kwargs)), args=(1, 2)),
            threading.Thread(target=lambda *args, **kwargs: got.append((args, kwargs)), args=[3], kwargs={"x": 4}),
        ]
        for worker in workers:
            worker.start()
            worker.join()
        return got

    assert once(program) == [((1, 2), {}), ((3,), {"x": 4})]


def test_a_subclass_runs_its_run() -> None:
    def program() -> Any:
        class Worker(threading.Thread):  # type: ignore[misc]
            def __init__(self, number: int) -> None:
                super().__init__()
                self.number = number

            def run(self) -> None:
                self.result = self.number + 1

        workers = [Worker(1), Worker(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return [worker.result for worker in workers], [worker.name for worker in workers]

    assert outcomes(program) == {((2, 3), ("Thread-1", "Thread-2"))}


def test_being_a_daemon_is_inherited() -> None:
    def program() -> Any:
        seen: list[Any] = []

        def work() -> None:
            seen.append(threading.Thread().daemon)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        worker.join()
        return seen, threading.Thread().daemon

    assert outcomes(program) == {((True,), False)}


def test_joins_wait_for_the_end() -> None:
    def program() -> Any:
        done: list[int] = []
        event = threading.Event()
        worker = threading.Thread(target=lambda: (event.wait(), done.append(1)))
        worker.start()
        event.set()
        worker.join()
        return done

    assert outcomes(program) == {(1,)}


def test_a_timed_join_tells_nothing() -> None:
    def program() -> Any:
        event = threading.Event()
        worker = threading.Thread(target=event.wait)
        worker.start()
        first = worker.join(0.5), worker.is_alive()
        event.set()
        worker.join()
        return first, worker.is_alive()

    assert outcomes(program) == {((None, True), False)}


def test_joining_a_thread_that_somebody_else_starts_is_an_error_or_waits() -> None:
    def program() -> Any:
        worker = threading.Thread(target=lambda: None, name="worker")
        starter = threading.Thread(target=worker.start)
        starter.start()
        answer = said(worker.join)
        starter.join()
        return answer

    assert outcomes(program) == {None, "RuntimeError: cannot join thread before it is started"}


def test_an_exception_ends_its_own_thread_and_is_reported() -> None:
    def program() -> Any:
        worker = threading.Thread(target=lambda: 1 // 0, name="worker")
        worker.start()
        worker.join()
        return worker.is_alive()

    assert outcomes(program) == {(False, f"worker: ZeroDivisionError: {BY_ZERO}")}


def test_system_exit_is_silent() -> None:
    def program() -> Any:
        import sys

        worker = threading.Thread(target=sys.exit)
        worker.start()
        worker.join()
        return "done"

    assert outcomes(program) == {"done"}


@pytest.mark.parametrize("passes_on", [False, True])
def test_a_hook_of_the_programs_own_takes_care_of_the_exception(passes_on: bool) -> None:
    def program() -> Any:
        heard: list[Any] = []

        def hook(args: Any) -> None:
            heard.append((args.exc_type.__name__, args.thread.name))
            if passes_on:
                threading.__excepthook__(args)

        threading.excepthook = hook
        worker = threading.Thread(target=lambda: [].pop(), name="worker")
        worker.start()
        worker.join()
        return heard

    heard = (("IndexError", "worker"),)
    assert outcomes(program) == {(heard, "worker: IndexError: pop from empty list") if passes_on else heard}
    assert threading.excepthook is not None
    assert once(lambda: threading.excepthook is threading.__excepthook__) is True


def test_a_hook_of_the_programs_own_hears_of_exits_and_may_fail() -> None:
    def program() -> Any:
        def hook(args: Any) -> None:
            raise ValueError(args.exc_type.__name__)

        threading.excepthook = hook
        worker = threading.Thread(target=sys.exit, name="worker")
        worker.start()
        worker.join()

    assert outcomes(program) == {(None, "worker: ValueError: SystemExit")}


def test_who_is_alive() -> None:
    """Who is alive is part of the state only where a program asks: then the search begins anew."""

    def program() -> Any:
        worker = threading.Thread(target=lambda: None, name="worker")
        worker.start()
        names = [thread.name for thread in threading.enumerate()]
        count = threading.active_count()
        worker.join()
        return names, count, threading.active_count()

    explored = explore(program)
    assert {outcome[0] for outcome in explored.outcomes} == {
        (("MainThread", "worker"), 2, 1),
        (("MainThread", "worker"), 1, 1),
        (("MainThread",), 1, 1),
    }
    assert ("threads are listed",) in explored.facts


def test_threads_that_others_start_are_listed_or_not() -> None:
    def program() -> Any:
        def start() -> None:
            child.start()
            child.join()

        child = threading.Thread(target=lambda: None)
        starter = threading.Thread(target=start)
        starter.start()
        count = threading.active_count()
        starter.join()
        return count

    assert outcomes(program) == {1, 2, 3}


def test_the_main_thread_can_be_waited_for() -> None:
    def program() -> Any:
        def wait() -> None:
            threading.main_thread().join()
            assert not threading.main_thread().is_alive()

        threading.Thread(target=wait).start()
        return "done"

    assert outcomes(program) == {"done"}


def test_old_names_are_deprecated() -> None:
    def ask() -> Any:
        thread = threading.Thread(name="t")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answers = [thread.getName(), thread.isDaemon(), threading.currentThread().name]
            thread.setName("u")
            thread.setDaemon(True)
            threading.Condition()._at_fork_reinit()
        return [*answers, thread.name, thread.daemon, len(caught), {w.filename for w in caught} == {__file__}]

    assert once(ask) == ["t", False, "MainThread", "u", True, 5, True]


def test_the_module_has_all_that_the_real_one_lists() -> None:
    assert set(threading.__all__) == set(real.__all__)
    for name in real.__all__:
        assert hasattr(threading, name), name
    assert threading.TIMEOUT_MAX == real.TIMEOUT_MAX
    assert threading.ThreadError is RuntimeError


def test_hooks_for_tracing_are_kept_and_not_called() -> None:
    def program() -> Any:
        threading.settrace(print)
        threading.setprofile(repr)
        return threading.gettrace() is print, threading.getprofile() is repr, threading.stack_size()

    assert once(program) == (True, True, 0)
    assert once(lambda: (threading.gettrace(), threading.getprofile())) == (None, None)


def test_what_a_program_stores_in_the_module_is_gone_in_the_next_run() -> None:
    def program() -> Any:
        before = hasattr(threading, "extra")
        threading.extra = 1
        threading.Lock = None
        return before

    assert once(program) is False
    assert threading.Lock is None
    assert once(lambda: (hasattr(threading, "extra"), threading.Lock is None)) == (False, False)


def test_exit_functions_run_when_the_main_thread_has_returned() -> None:
    def program() -> Any:
        threading._register_atexit(lambda: threading.Thread(target=lambda: 1 // 0, name="late").start())
        return "done"

    assert outcomes(program) == {("done", f"late: ZeroDivisionError: {BY_ZERO}")}


@pytest.mark.parametrize("strategy", ["source", "optimal"])
def test_threads_that_touch_nothing_in_common_are_run_in_one_order(strategy: str) -> None:
    def program() -> Any:
        workers = [threading.Thread(target=threading.Lock().acquire) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return [worker.name for worker in workers]

    explored = explore(program, strategy)
    assert explored.runs == 1
    assert explored.events == 4 * 4 + 1


def test_a_thread_that_is_renamed_while_others_ask_has_either_name() -> None:
    def program() -> Any:
        def rename() -> None:
            threading.current_thread().name = "new"

        worker = threading.Thread(target=rename, name="old")
        worker.start()
        name = worker.name
        worker.join()
        return name

    explored = explore(program)
    assert {outcome[0] for outcome in explored.outcomes} == {"old", "new"}
    assert ("field", "threading", "Thread", "_name") in explored.facts


def test_only_the_last_end_of_a_thread_matters_to_daemons() -> None:
    """Each end once conflicted with each of their operations: an actor and two senders took more than 42,000 runs."""

    def program() -> None:
        log: list[int] = []
        daemon = threading.Thread(target=lambda: [log.append(n) for n in range(5)], daemon=True)
        daemon.start()
        others = [threading.Thread(target=lambda: len(log)) for _ in range(2)]
        for thread in others:
            thread.start()
        daemon.join()
        for thread in others:
            thread.join()

    found = explore(program, strategy="optimal")
    assert (found.runs, found.blocked) == (3, 0)


def test_two_threads_that_start_one_thread_may_both_find_it_not_started() -> None:
    """Then it runs twice, or where CPython notices, the second start fails with an error that says nothing."""

    def raced() -> Any:
        ran: list[int] = []
        kinds: list[str] = []

        class Worker(threading.Thread):  # type: ignore[misc]
            def run(self) -> None:
                ran.append(1)

        worker = Worker()

        def start() -> None:
            try:
                worker.start()
            except (RuntimeError, KeyError) as error:
                kinds.append(type(error).__name__)

        starters = [threading.Thread(target=start) for _ in range(2)]
        for thread in starters:
            thread.start()
        for thread in starters:
            thread.join()
        for thread in threading.enumerate()[1:]:
            thread.join()
        return len(ran), kinds

    once_only = (1, ("RuntimeError",))
    assert outcomes(raced) == {once_only, (1, ("KeyError",)) if sys.version_info >= (3, 13) else (2, ())}


def test_a_thread_that_its_maker_starts_twice_runs_once() -> None:
    def twice() -> Any:
        ran: list[int] = []
        worker = threading.Thread(target=ran.append, args=(1,))
        worker.start()
        again = said(worker.start)
        worker.join()
        return ran, again, said(worker.start)

    expected = "RuntimeError: threads can only be started once"
    assert outcomes(twice) == {((1,), expected, expected)}
