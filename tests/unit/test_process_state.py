"""The state of the process: what two threads do to it comes in both orders, and no run finds what another left."""

from __future__ import annotations

import math
import os
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from dpor.python.effects import c_modules
from tests.source_outcomes import outcomes


class Case(NamedTuple):
    """One thread makes the change while another looks. `first`, before they start; `seen`: with and without."""

    imports: str
    first: str
    change: str
    look: str
    seen: set[Any]
    only_looks: bool = True


CASES = {
    "gc switch": Case("gc", "", "gc.disable()", "gc.isenabled()", {True, False}),
    "gc switch by name": Case("gc", "off = gc.disable", "off()", "gc.isenabled()", {True, False}),
    "gc thresholds": Case(
        "gc", "gc.set_threshold(700, 10, 10)", "gc.set_threshold(5)", "gc.get_threshold()[0]", {700, 5}
    ),
    "gc flags": Case("gc", "", "gc.set_debug(gc.DEBUG_UNCOLLECTABLE)", "gc.get_debug() > 0", {True, False}),
    "recursion limit": Case(
        "sys", "sys.setrecursionlimit(2000)", "sys.setrecursionlimit(3000)", "sys.getrecursionlimit()", {2000, 3000}
    ),
    "switch interval": Case(
        "sys",
        "sys.setswitchinterval(0.5)",
        "sys.setswitchinterval(0.25)",
        "sys.getswitchinterval() == 0.5",
        {True, False},
    ),
    "limit of digits": Case(
        "sys",
        "sys.set_int_max_str_digits(5000)",
        "sys.set_int_max_str_digits(6000)",
        "sys.get_int_max_str_digits()",
        {5000, 6000},
    ),
    "standard output": Case(
        "io, sys", "s = io.StringIO()", "sys.stdout = s", "(print('x'), s.getvalue())[1]", {"", "x\n"}, False
    ),
    "standard output, written to": Case(
        "io, sys", "s = io.StringIO()", "sys.stdout = s", "(sys.stdout.write('x'), s.getvalue())[1]", {"", "x"}, False
    ),
    "excepthook": Case("sys", "", "sys.excepthook = print", "sys.excepthook is print", {True, False}),
    "search path": Case("sys", "", "sys.path.append('here')", "'here' in sys.path", {True, False}),
    "search path, bound anew": Case("sys", "", "sys.path = []", "sys.path == []", {True, False}),
    "modules": Case("sys", "", "sys.modules['one'] = sys", "'one' in sys.modules", {True, False}),
    "argv": Case("sys", "", "sys.argv.append('one')", "sys.argv[-1] == 'one'", {True, False}),
    "attribute of a module in C": Case("math", "", "math.tau = 6", "math.tau == 6", {True, False}),
    "attribute of a library module": Case(
        "tempfile", "", "tempfile.tempdir = '/'", "tempfile.tempdir == '/'", {True, False}
    ),
    "warnings": Case(
        "warnings",
        "warnings.simplefilter('ignore')",
        "warnings.simplefilter('error')",
        "raises(lambda: warnings.warn('x'))",
        {True, False},
    ),
    "warnings, filtered": Case(
        "warnings",
        "warnings.simplefilter('ignore')",
        "warnings.filterwarnings('error', message='x')",
        "raises(lambda: warnings.warn('x'))",
        {True, False},
    ),
    "warnings, in a context": Case(
        "warnings",
        "warnings.simplefilter('ignore')",
        "in_context(warnings.catch_warnings, lambda: warnings.simplefilter('error'))",
        "raises(lambda: warnings.warn('x'))",
        {True, False},
    ),
    "warnings, recorded": Case(
        "warnings",
        "c = warnings.catch_warnings(record=True); log = c.__enter__(); warnings.simplefilter('always')",
        "warnings.warn('x')",
        "len(log)",
        {0, 1},
    ),
    "locale": Case(
        "locale",
        "locale.setlocale(locale.LC_ALL, 'C')",
        "locale.setlocale(locale.LC_ALL, 'C.UTF-8')",
        "locale.setlocale(locale.LC_CTYPE)",
        {"C", "C.UTF-8"},
    ),
    "working folder": Case("os", "os.chdir('/usr')", "os.chdir('/')", "os.getcwd()", {"/usr", "/"}),
    "working folder of pathlib": Case(
        "os, pathlib", "os.chdir('/usr')", "os.chdir('/')", "str(pathlib.Path.cwd())", {"/usr", "/"}
    ),
    "umask": Case("os", "os.umask(18)", "os.umask(63)", "os.umask(18)", {18, 63}, False),
    "environment": Case("os", "", "os.environ['ONE'] = 'x'", "os.environ.get('ONE')", {None, "x"}),
    "environment, asked": Case("os", "", "os.environ['ONE'] = 'x'", "os.getenv('ONE')", {None, "x"}),
    "time zone": Case(
        "os, time",
        "os.environ['TZ'] = 'UTC'; time.tzset(); os.environ['TZ'] = 'UTC+5'",
        "time.tzset()",
        "time.localtime(0).tm_hour",
        {0, 19},
    ),
    "time zone of the environment": Case(
        "os, time",
        "os.environ['TZ'] = 'UTC'",
        "os.environ['TZ'] = 'UTC+5'",
        "(time.tzset(), time.localtime(0).tm_hour)[1]",
        {0, 19},
        False,
    ),
    "codecs": Case(
        "codecs",
        "def search(name): return codecs.lookup('ascii') if name == 'ours' else None",
        "codecs.register(search)",
        "raises(lambda: codecs.lookup('ours'))",
        {True, False},
    ),
    "handlers of errors": Case(
        "codecs",
        "",
        "codecs.register_error('ours', codecs.ignore_errors)",
        "raises(lambda: codecs.lookup_error('ours'))",
        {True, False},
    ),
    "dialects": Case(
        "csv", "", "csv.register_dialect('ours', delimiter=';')", "'ours' in csv.list_dialects()", {True, False}
    ),
    "size of fields": Case("csv", "", "csv.field_size_limit(5)", "csv.field_size_limit()", {131072, 5}),
    "timeout of sockets": Case(
        "socket", "", "socket.setdefaulttimeout(5)", "socket.getdefaulttimeout() == 5", {True, False}
    ),
    "fault handler": Case(
        "faulthandler", "faulthandler.disable()", "faulthandler.enable()", "faulthandler.is_enabled()", {True, False}
    ),
    "tracing of memory": Case("tracemalloc", "", "tracemalloc.start()", "tracemalloc.is_tracing()", {True, False}),
    "random": Case("random", "random.seed(5)", "random.seed(7)", "random.randrange(100)", {79, 41}, False),
    "random, drawn": Case(
        "random", "random.seed(5)", "random.randrange(100)", "random.randrange(100)", {79, 32}, False
    ),
    "state of random": Case(
        "random", "random.seed(5)", "random.random()", "random.getstate() == random.Random(5).getstate()", {True, False}
    ),
    "standard output, redirected": Case(
        "contextlib, io",
        "s = io.StringIO()",
        "in_context(lambda: contextlib.redirect_stdout(s), lambda: None)",
        "(print('x'), s.getvalue())[1]",
        {"", "x\n"},
        False,
    ),
    "working folder, in a context": Case(
        "contextlib, os",
        "os.chdir('/usr')",
        "in_context(lambda: contextlib.chdir('/'), lambda: None)",
        "os.getcwd()",
        {"/usr", "/"},
    ),
    "first weekday": Case("calendar", "", "calendar.setfirstweekday(3)", "calendar.firstweekday()", {0, 3}),
    "filters, looked at": Case(
        "warnings",
        "warnings.resetwarnings()",
        "warnings.simplefilter('error')",
        "len(warnings.filters)",
        {0, 1},
    ),
    "copiers": Case("copyreg", "", "copyreg.pickle(str, print)", "str in copyreg.dispatch_table", {True, False}),
    "cached lines": Case(
        "linecache", "linecache.cache.clear()", "linecache.getlines(__file__)", "len(linecache.cache)", {0, 1}
    ),
    "folder of tempfile": Case("tempfile", "", "tempfile.tempdir = '/'", "tempfile.gettempdir() == '/'", {True, False}),
    "logging disabled": Case(
        "logging",
        "logging.getLogger('x').setLevel(10)",
        "logging.disable(30)",
        "logging.getLogger('x').isEnabledFor(20)",
        {True, False},
    ),
    "level of a logger": Case(
        "logging",
        "log = logging.getLogger('x'); log.setLevel(10)",
        "log.setLevel(30)",
        "log.isEnabledFor(20)",
        {True, False},
    ),
    "handler of a logger": Case(
        "io, logging",
        "log = logging.getLogger('x'); log.propagate = False; s = io.StringIO(); h = logging.StreamHandler(s)",
        "log.addHandler(h)",
        "(log.error('x'), s.getvalue())[1]",
        {"", "x\n"},
        False,
    ),
    "name of a level": Case(
        "logging", "", "logging.addLevelName(20, 'TWENTY')", "logging.getLevelName(20)", {"INFO", "TWENTY"}
    ),
    "logging set up": Case(
        "logging",
        "logging.getLogger().handlers[:] = []",
        "logging.basicConfig()",
        "logging.getLogger().hasHandlers()",
        {True, False},
    ),
    "name of a built-in function": Case("builtins", "", "builtins.len = lambda x: 5", "len('x')", {1, 5}),
    "new built-in name": Case("builtins", "", "builtins.new = 5", "raises(lambda: new)", {True, False}),
    "contexts of decimal": Case(
        "decimal",
        "",
        "decimal.DefaultContext.prec = 5",
        "decimal.getcontext().prec",
        {28, 5},
    ),
}

PROGRAM = """
    import {imports}

    def raises(call):
        try:
            call()
        except Exception:
            return True
        return False

    def in_context(manager, call):
        with manager():
            call()

    def scenario():
        {first}
        seen = []
        def change():
            {change}
        def look():
            seen.append({look})
        {run}
        return tuple(seen)
"""


def found(directory: Path, case: Case, run: str, strategy: str) -> Any:
    first = case.first or "pass"
    source = PROGRAM.format(imports=case.imports, first=first, change=case.change, look=case.look, run=run)
    return outcomes(directory, source, strategy)


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen_or_not(tmp_path: Path, name: str, strategy: str) -> None:
    case = CASES[name]
    seen = found(tmp_path, case, "run(look, change)", strategy)
    assert seen == {(value,) for value in case.seen}
    # Operators copy the default context, too; `copy` and `pickle` look for what copies.
    assert bool(seen.incomplete) == (name in ("contexts of decimal", "copiers"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.only_looks])
def test_looks_need_no_order(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    seen = found(tmp_path, case._replace(change="pass"), f"run(lambda: {case.look}, lambda: {case.look})", "optimal")
    assert seen.executions == 1


@pytest.mark.parametrize("name", CASES)
def test_no_run_finds_what_another_left(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    before = os.getcwd(), dict(os.environ), list(warnings.filters)
    once = found(tmp_path, case._replace(first="pass"), "seen.append(1)", "optimal")
    names: dict[str, Any] = {"raises": raises}
    for module in case.imports.split(", "):
        names[module] = __import__(module)
    if not any(word in case.look for word in (" s.", "log", "random", "umask", "warn", "print", "signal", "write")):
        first, again = (eval(case.look, names) for _ in range(2))
        found(tmp_path, case, "change()\n        change()", "optimal")
        assert eval(case.look, names) == first == again
    else:
        found(tmp_path, case, "change()", "optimal")
    assert (os.getcwd(), dict(os.environ), list(warnings.filters)) == before
    assert found(tmp_path, case._replace(first="pass"), "seen.append(1)", "optimal") == once


@pytest.mark.parametrize(
    ("change", "look"),
    [
        ("gc.disable()", "gc.isenabled()"),
        ("os.chdir('/')", "os.getcwd() != '/'"),
        ("locale.setlocale(locale.LC_ALL, 'C')", "locale.setlocale(locale.LC_ALL) != 'C'"),
        ("math.hits = 1", "not hasattr(math, 'hits')"),
        ("sys.setrecursionlimit(2345)", "sys.getrecursionlimit() != 2345"),
    ],
)
def test_what_an_import_changes_is_so_in_every_run(tmp_path: Path, change: str, look: str) -> None:
    source = f"""
        import gc, locale, math, os, sys

        {change}

        def scenario():
            seen = []
            run(lambda: seen.append(1), lambda: seen.append({look}))
            return tuple(seen)
    """
    assert outcomes(tmp_path, source) == {(1, False), (False, 1)}


def raises(call: Any) -> bool:
    try:
        call()
    except Exception:
        return True
    return False


def test_of_every_module_in_c_of_the_library_it_is_said_whether_it_keeps_something() -> None:
    extensions = Path(os.__file__).with_name("lib-dynload")
    names = {*sys.builtin_module_names, *(file.name.partition(".")[0] for file in extensions.glob("*.*"))}
    tables = (c_modules.WITHOUT_STATE, c_modules.WITH_ROWS, c_modules.WITH_STATE)
    assert {name: sum(name.lstrip("_") in table for table in tables) for name in names} == dict.fromkeys(names, 1)


def test_a_class_of_the_program_keeps_nothing_in_c(tmp_path: Path) -> None:
    source = """
    import functools, struct

    class Pairs(struct.Struct):
        pass

    class Later(functools.partial):
        pass

    def scenario():
        use = lambda: (Pairs("ii"), Later(int)())
        run(use, use)
    """
    assert outcomes(tmp_path, source).executions == 1


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_what_a_module_in_c_keeps_is_one_location(tmp_path: Path, strategy: str) -> None:
    source = """
    import sqlite3

    class Point:
        pass

    def scenario():
        database = sqlite3.connect(":memory:")
        def ask():
            try:
                seen.append(database.execute("select ?", (Point(),)).fetchone()[0])
            except sqlite3.Error:
                seen.append(None)
        seen = []
        run(lambda: sqlite3.register_adapter(Point, lambda point: 5), ask)
        database.close()
        sqlite3.adapters.pop((Point, sqlite3.PrepareProtocol))
        return seen[0]
    """
    assert outcomes(tmp_path, source, strategy) == {5, None}


def test_a_row_of_a_database_is_updated_by_two(tmp_path: Path) -> None:
    source = """
    import sqlite3

    def scenario():
        database = sqlite3.connect(":memory:", isolation_level=None)
        database.execute("create table t (n)")
        database.execute("insert into t values (0)")
        def add():
            (n,) = database.execute("select n from t").fetchone()
            database.execute("update t set n = ?", (n + 1,))
        run(add, add)
        (n,) = database.execute("select n from t").fetchone()
        database.close()
        return n
    """
    assert outcomes(tmp_path, source) == {1, 2}


def test_only_the_main_thread_sets_handlers_of_signals(tmp_path: Path) -> None:
    source = """
    import signal

    def scenario():
        seen = []
        thread = threading.Thread(target=lambda: seen.append(signal.getsignal(signal.SIGTERM) == signal.SIG_IGN))
        thread.start()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        thread.join()
        return seen[0]
    """
    assert outcomes(tmp_path, source) == {True, False}


def test_the_time_zone_follows_the_environment(tmp_path: Path) -> None:
    """Two threads set different names: that needs no order as long as nobody looks."""
    source = """
    import os

    def scenario():
        def set_(name):
            os.environ[name] = "x"
        run(lambda: os.putenv("A", "1"), lambda: os.putenv("B", "2"))
    """
    assert outcomes(tmp_path, source).executions == 1


def test_an_attribute_of_a_module_in_c_is_part_of_states(tmp_path: Path) -> None:
    source = """
    import math

    def scenario():
        math.hits = 0
        def hit():
            math.hits += 1
        run(hit, hit)
        return math.hits
    """
    for strategy in ("optimal", "dpor", "sa", "original", "full"):
        assert outcomes(tmp_path, source, strategy) == {1, 2}
    assert not hasattr(math, "hits")


def test_what_code_that_is_not_instrumented_changes_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "installed_that_goes.py").write_text("import os\n\ndef go():\n    os.chdir('/')\n")
    monkeypatch.syspath_prepend(str(installed))
    source = """
    import os, installed_that_goes

    def scenario():
        before = os.getcwd()
        seen = []
        run(lambda: seen.append(1), lambda: seen.append(2))
        installed_that_goes.go()
        return before == "/"
    """
    here = os.getcwd()
    found = outcomes(tmp_path, source)
    assert found == {False}
    assert found.executions == 2
    assert os.getcwd() == here
