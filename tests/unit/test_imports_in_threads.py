"""A module that a thread is the first to import is code of that thread; others wait for it, as in CPython."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from dpor.core.operations import READ, UPDATE, WRITE
from dpor.primitives.imports import (
    IDLE,
    LOAD,
    LOADED,
    THERE,
    WAIT,
    AwaitImport,
    BeginImport,
    BeginImportWithin,
    EndImport,
)
from tests.source_outcomes import PREAMBLE, outcomes

STRATEGIES = ("optimal", "dpor")

Files = dict[str, str]

PROGRAMS: dict[str, tuple[Files, str, set[Any]]] = {
    "the body is seen half done": (
        {
            "registry.py": "items = []",
            "late.py": "import registry, pauses\nregistry.items.append(1)\npauses.pause()\nregistry.items.append(2)",
        },
        """
        import pauses, registry
        def importer():
            import late
        def scenario():
            seen = []
            def look():
                pauses.pause()
                seen.append(len(registry.items))
            run(importer, look)
            return seen[0], len(registry.items)
        """,
        {(0, 2), (1, 2), (2, 2)},
    ),
    "two import the same": (
        {"count.py": "n = 0", "late.py": "import count, pauses\ncount.n += 1\npauses.pause()\nREADY = True"},
        """
        import count, pauses
        def scenario():
            seen = []
            def importer():
                pauses.pause()
                import late
                seen.append(late.READY)
            run(importer, importer)
            return seen, count.n
        """,
        {((True, True), 1)},
    ),
    "an update is lost": (
        {"count.py": "n = 0", "late.py": "import count, pauses\nvalue = count.n\npauses.pause()\ncount.n = value + 1"},
        """
        import importlib
        import count, pauses
        def bump():
            pauses.pause()
            value = count.n
            count.n = value + 1
        def scenario():
            run(lambda: importlib.import_module("late"), bump)
            return count.n
        """,
        {1, 2},
    ),
    "looked for in sys.modules": (
        {"late.py": "import pauses\nFIRST = 1\npauses.pause()\nLAST = 2"},
        """
        import pauses, sys
        def importer():
            pauses.pause()
            import late
        def scenario():
            seen = []
            def look():
                pauses.pause()
                module = sys.modules.get("late")
                seen.append(None if module is None else hasattr(module, "LAST"))
            run(importer, look)
            return seen[0]
        """,
        {None, False, True},
    ),
    "two that import each other": (
        {
            "one.py": "import pauses\npauses.pause()\nimport two\nSEES = hasattr(two, 'DONE')\nDONE = True",
            "two.py": "import pauses\npauses.pause()\nimport one\nSEES = hasattr(one, 'DONE')\nDONE = True",
        },
        """
        import pauses
        def first():
            pauses.pause()
            import one
        def second():
            pauses.pause()
            import two
        def scenario():
            run(first, second)
            import one, two
            return one.SEES, two.SEES
        """,
        {(True, False), (False, True)},
    ),
    "part of a package": (
        {
            "bag/__init__.py": "",
            "bag/part.py": "import pauses\nfrom . import other\npauses.pause()\nN = other.N",
            "bag/other.py": "N = 1",
        },
        """
        import bag, pauses
        def scenario():
            seen = []
            def importer():
                from bag import part
                seen.append(part.N)
            def look():
                pauses.pause()
                seen.append(hasattr(bag, "part"))
            run(importer, look)
            return sorted(seen, key=str), bag.part.N, bag.other.N
        """,
        {((1, True), 1, 1), ((1, False), 1, 1)},
    ),
    "a lazy attribute of a package": (
        {
            "bag/__init__.py": "import importlib\nasked = []\ndef __getattr__(name):\n    asked.append(name)\n"
            "    return importlib.import_module('bag.' + name)",
            "bag/part.py": "import pauses\npauses.pause()\nN = 1",
        },
        """
        import bag, pauses
        def scenario():
            seen = []
            def use():
                pauses.pause()
                seen.append(bag.part.N)
            run(use, use)
            return seen, len(bag.asked)
        """,
        {((1, 1), 1), ((1, 1), 2)},
    ),
    "what nobody has imported is not there": (
        {"registry.py": "items = []", "late.py": "import registry\nregistry.items.append(1)", "bag/__init__.py": "",
         "bag/part.py": "N = 1"},
        """
        import bag, registry, sys
        def scenario():
            before = "late" in sys.modules, list(registry.items), hasattr(bag, "part")
            def importer():
                import bag.part
                import late
            run(importer, importer)
            return before, "late" in sys.modules, registry.items, hasattr(bag, "part")
        """,
        {((False, (), False), True, (1,), True)},
    ),
    "it makes nothing": (
        {"late.py": "N = 1", "later.py": "import late\n"},
        """
        import threading
        lock = threading.Lock()
        def scenario():
            seen = []
            def importer():
                import late
                with lock:
                    import later
                seen.append((late.N, later.late is late))
            run(importer, importer)
            return seen
        """,
        {((1, True), (1, True))},
    ),
    "taken away, it is executed again": (
        {"registry.py": "items = []", "late.py": "import registry\nregistry.items.append(1)"},
        """
        import registry, sys
        def scenario():
            def importer():
                import late
                del sys.modules["late"]
                import late
            run(importer)
            return len(registry.items)
        """,
        {2},
    ),
}  # fmt: skip
"""Modules, a program, and what it can come to."""


def frozen(value: Any) -> Any:
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_that_can_happen_is_found(tmp_path: Path, name: str, strategy: str) -> None:
    files, source, expected = PROGRAMS[name]
    write(tmp_path, {**files, "pauses.py": "def pause():\n    pass\n"})
    found = outcomes(tmp_path, source, strategy)
    assert {told(value) for value in found} == expected
    assert not found.incomplete


def told(value: Any) -> Any:
    """What `scenario` returned, with the kinds of containers left out."""
    if isinstance(value, tuple) and len(value) == 2 and value[0] in ("list", "tuple"):
        return tuple(map(told, value[1]))
    return tuple(map(told, value)) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", PROGRAMS)
def test_real_threads_do_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    files, source, expected = PROGRAMS[name]
    write(
        tmp_path, {**files, "pauses.py": "import random, time\ndef pause():\n    time.sleep(random.random() / 500)\n"}
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = {file.partition(".")[0].replace("/__init__", "").replace("/", ".") for file in files} | {"pauses"}
    random.seed(1)
    try:
        for _ in range(30):
            for module in modules:
                sys.modules.pop(module, None)
            names: dict[str, Any] = {}
            exec(PREAMBLE + dedent(source), names)
            assert frozen(names["scenario"]()) in expected
    finally:
        for module in modules:
            sys.modules.pop(module, None)


def write(directory: Path, files: Files) -> None:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_lock_of_the_program_and_that_of_a_module_can_deadlock(tmp_path: Path, strategy: str) -> None:
    write(
        tmp_path,
        {
            "bag/__init__.py": "import threading\nlock = threading.Lock()",
            "bag/part.py": "import bag\nwith bag.lock:\n    N = 1",
        },
    )
    source = """
    import importlib
    import bag

    def locked():
        with bag.lock:
            importlib.import_module("bag.part")

    def unlocked():
        import bag.part

    def scenario():
        run({first}, unlocked)
        return bag.part.N
    """
    assert outcomes(tmp_path, source.format(first="unlocked"), strategy) == {1}
    assert outcomes(tmp_path, source.format(first="locked"), strategy) == {1, "deadlock"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_module_that_fails_to_load_is_loaded_by_the_next(tmp_path: Path, strategy: str) -> None:
    failing = "import count\ncount.n += 1\nif count.n == 1:\n    raise ValueError\nDONE = 1"
    write(tmp_path, {"count.py": "n = 0", "late.py": failing})
    source = """
    import count
    def scenario():
        seen = []
        def importer():
            try:
                import late
                seen.append(late.DONE)
            except ValueError:
                seen.append(None)
        run(importer, importer)
        return set(seen), count.n
    """
    found = outcomes(tmp_path, source, strategy)
    assert len(found) == 1
    assert any("late fails to load while another thread waits" in why for why in found.incomplete)


# ---------------------------------------------------------------------- the rules


def test_who_comes_later_waits_and_goes_on() -> None:
    taken = BeginImport("m").apply((None, IDLE), 1)
    assert (taken.result, taken.modes) == (LOAD, (WRITE, UPDATE))
    assert BeginImport("m").apply(taken.states, 1).result == THERE
    waits = BeginImport("m").apply(taken.states, 2)
    assert (waits.result, waits.modes) == (WAIT, (READ, UPDATE))
    assert not AwaitImport("m").enabled(waits.states, 2)
    done = EndImport("m", True).apply(waits.states, 1)
    assert done.states[0] == LOADED
    gone_on = AwaitImport("m").apply(done.states, 2)
    assert (gone_on.result, gone_on.states) == (THERE, (LOADED, IDLE))


def test_who_waits_for_a_module_that_fails_loads_it() -> None:
    taken = BeginImport("m").apply((None, IDLE), 1)
    waits = BeginImport("m").apply(taken.states, 2)
    failed = EndImport("m", False).apply(waits.states, 1)
    assert AwaitImport("m").apply(failed.states, 2).result == LOAD


def test_a_circle_of_waits_is_not_closed() -> None:
    at_what: Any = IDLE
    for thread, module in ((1, "a"), (2, "b"), (3, "c")):
        at_what = BeginImport(module).apply((None, at_what), thread).states[1]
    for thread, module, owner in ((1, "b", 2), (2, "c", 3)):
        waits = BeginImportWithin(module).apply((owner, at_what), thread)
        assert (waits.result, waits.modes) == (WAIT, (READ, WRITE))
        at_what = waits.states[1]
    last = BeginImportWithin("a").apply((1, at_what), 3)
    assert last.result == THERE
    assert BeginImport("a").apply((1, at_what), 4).result == WAIT
