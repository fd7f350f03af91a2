"""A handler's lock excludes the program's threads from each other."""

from __future__ import annotations

import logging
import logging.handlers
import queue
import threading
from pathlib import Path

import dpor
from tests.source_outcomes import outcomes

HANDLER = """
    import io, logging, threading
    lock = threading.Lock()

    class Counting(logging.Handler):
        def __init__(self):
            super().__init__()
            self.count = 0
            self.seen = []

        def emit(self, record):
            self.count = self.count + 1
            self.seen.append(record.getMessage())

    log = logging.getLogger("program")
    log.propagate = False
    log.setLevel(logging.INFO)
"""


def test_no_record_is_lost_and_both_orders_come(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        handler = Counting()
        log.addHandler(handler)
        run(lambda: log.info("a"), lambda: log.info("b"))
        return handler.count, handler.seen
    """
    found = outcomes(tmp_path, source)
    assert found == {(2, ("a", "b")), (2, ("b", "a"))}
    assert found.executions == 2
    assert not found.incomplete


def test_what_a_handler_counts_may_be_read_meanwhile(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        handler, seen = Counting(), []
        log.addHandler(handler)
        run(lambda: log.info("a"), lambda: seen.append(handler.count))
        return seen
    """
    assert outcomes(tmp_path, source) == {(0,), (1,)}


def test_a_record_shows_a_dict_as_it_is(tmp_path: Path) -> None:
    """A dict that is the only argument takes the place of the tuple of arguments."""
    source = f"""{HANDLER}
    def scenario():
        handler, shown = Counting(), dict(a=1)
        log.addHandler(handler)
        run(lambda: log.info("%s", shown), lambda: shown.update(b=2))
        return handler.seen
    """
    assert outcomes(tmp_path, source) == {("{'a': 1}",), ("{'a': 1, 'b': 2}",)}


def test_the_order_of_the_keys_of_such_a_dict_is_looked_at(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        shown = dict()
        run(lambda: shown.update(a=1), lambda: shown.update(b=2))
        return logging.LogRecord("", 1, "", 1, "%s", (shown,), None).getMessage()
    """
    assert outcomes(tmp_path, source) == {"{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"}


def test_locks_taken_in_another_order_deadlock(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    class Locking(logging.Handler):
        def emit(self, record):
            if record.getMessage() == "a":
                with lock:
                    pass

    def scenario():
        log.addHandler(Locking())
        def locked():
            with lock:
                log.info("b")
        run(lambda: log.info("a"), locked)
        return "done"
    """
    assert outcomes(tmp_path, source) == {"deadlock", "done"}


def test_a_stream_of_the_program_shows_the_order(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        text = io.StringIO()
        log.addHandler(logging.StreamHandler(text))
        run(lambda: log.info("a"), lambda: log.info("b"))
        return text.getvalue()
    """
    assert outcomes(tmp_path, source) == {"a\nb\n", "b\na\n"}


def test_the_standard_streams_cost_nothing(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        log.addHandler(logging.StreamHandler())
        log.addHandler(logging.NullHandler())
        log.propagate = True
        def write():
            for i in range(3):
                log.info("%s", i)
        run(write, write)
    """
    assert outcomes(tmp_path, source).executions == 1


def test_changing_the_set_up_meanwhile_comes_before_and_after(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        handler = Counting()
        run(lambda: log.addHandler(handler), lambda: log.info("b"))
        return handler.count
    """
    found = outcomes(tmp_path, source)
    assert found == {0, 1}
    assert not found.incomplete


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    owners = (logging.Logger, logging.Handler, logging.Filterer, logging)
    before = [dict(vars(owner)) for owner in owners]
    handlers, loggers = list(logging.root.handlers), set(logging.root.manager.loggerDict)
    test_no_record_is_lost_and_both_orders_come(tmp_path)
    assert [dict(vars(owner)) for owner in owners] == before
    assert logging.root.handlers == handlers
    assert set(logging.root.manager.loggerDict) >= loggers


def test_the_thread_of_a_queue_listener_is_one_of_the_program_s() -> None:
    def program() -> None:
        records: queue.Queue[logging.LogRecord] = queue.Queue()
        seen = []

        class Keeping(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                seen.append(record.getMessage())

        logger = logging.Logger("x")
        logger.addHandler(logging.handlers.QueueHandler(records))
        listener = logging.handlers.QueueListener(records, Keeping())
        listener.start()
        logging_thread = threading.Thread(target=logger.warning, args=("late",))
        logging_thread.start()
        listener.stop()
        logging_thread.join()
        assert seen == ["late"]

    (failure,) = dpor.check(program).findings
    assert failure.message == "AssertionError"


def test_a_record_tells_the_thread_in_which_it_was_made(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    class Naming(logging.Handler):
        def emit(self, record):
            seen.append((record.threadName, record.thread == idents[record.threadName]))

    seen, idents = [], dict()

    def work():
        idents[threading.current_thread().name] = threading.get_ident()
        log.info("at work")

    def scenario():
        log.addHandler(Naming())
        worker = threading.Thread(target=work, name="worker")
        worker.start()
        worker.join()
        return seen[0]
    """
    assert outcomes(tmp_path, source) == {("worker", True)}


def test_a_text_tells_which_thread_of_a_pool_has_logged_it(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    from concurrent.futures import ThreadPoolExecutor

    def scenario():
        text = io.StringIO()
        handler = logging.StreamHandler(text)
        handler.setFormatter(logging.Formatter("%(threadName)s"))
        log.addHandler(handler)
        with ThreadPoolExecutor(1, "pool") as pool:
            pool.submit(log.info, "x")
        return text.getvalue()
    """
    assert outcomes(tmp_path, source) == {"pool_0\n"}


def test_what_the_program_does_to_lists_of_handlers_comes_before_and_after(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        handler, seen = Counting(), []
        log.addHandler(handler)
        run(lambda: seen.append(log.hasHandlers()), lambda: log.handlers.clear())
        return seen
    """
    assert outcomes(tmp_path, source) == {(False,), (True,)}


def test_how_many_handlers_there_are_depends_on_who_adds_one(tmp_path: Path) -> None:
    source = f"""{HANDLER}
    def scenario():
        seen = []
        run(lambda: seen.append(len(log.handlers)), lambda: log.addHandler(Counting()))
        return seen
    """
    assert outcomes(tmp_path, source) == {(0,), (1,)}


def test_logging_may_be_imported_by_the_target_itself(tmp_path: Path) -> None:
    """The first execution has modelled locks, too, and the second repeats it."""
    source = """
    def scenario():
        import logging
        seen = []

        class Keeping(logging.Handler):
            def emit(self, record):
                seen.append(record.getMessage())

        log = logging.getLogger("late")
        log.propagate = False
        log.addHandler(Keeping())
        run(lambda: log.warning("a"), lambda: log.addFilter(lambda record: False))
        return seen
    """
    assert outcomes(tmp_path, source) == {(), ("a",)}
