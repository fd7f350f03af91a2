"""What an import looks at while several threads exist, each look being a step: all that can happen is found."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import dpor
from tests.source_outcomes import outcomes

Files = dict[str, str]

PART = {"bag/__init__.py": "", "bag/part.py": "N = 1"}

LAZY = {"log.py": "items = []", "late.py": "import log\nlog.items.append(1)\nstate = 1"}

LOADS_LAZILY = """
        import importlib.util, log, sys
        def lazy():
            spec = importlib.util.find_spec("late")
            spec.loader = importlib.util.LazyLoader(spec.loader)
            module = sys.modules["late"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
        def scenario():
            module, seen = lazy(), []
"""

PROGRAMS: dict[str, tuple[Files, str, set[Any]]] = {
    "a package is asked for a name before a module of that name is imported": (
        {
            "bag/__init__.py": "import importlib\nasked = []\ndef __getattr__(name):\n    asked.append(name)\n"
            "    if name == 'part':\n        return importlib.import_module('bag.part')\n"
            "    raise AttributeError(name)",
            "bag/part.py": "N = 1",
        },
        """
        import bag
        def load():
            from bag import part
        def scenario():
            run(load, load)
            return bag.asked.count("part")
        """,
        {1, 2},
    ),
    "import_module imports nothing beside": (
        {"bag/__init__.py": "__all__ = ['part']", "bag/part.py": ""},
        """
        import importlib, sys
        def scenario():
            importlib.import_module("bag")
            return "bag.part" in sys.modules
        """,
        {False},
    ),
    "a name that another thread gives to the package": (
        {"bag/__init__.py": "log = []", "bag/part.py": "import bag\nbag.log.append(1)"},
        """
        import bag
        def load():
            from bag import part
        def give():
            bag.part = 0
        def scenario():
            run(load, give)
            return len(bag.log)
        """,
        {0, 1},
    ),
    "`import a.b as c` looks up `b`": (
        PART,
        """
        import bag
        def scenario():
            seen = []
            def load():
                import bag.part as part
                seen.append(part == 0)
            def give():
                if hasattr(bag, "part"):
                    bag.part = 0
            run(load, give)
            return seen[0]
        """,
        {False, True},
    ),
    "names are taken one after the other": (
        {"pair.py": "a = b = 0", "late.py": "from pair import a, b"},
        """
        import pair
        def scenario():
            seen = []
            def take():
                import late
                seen.append((late.a, late.b))
            def give():
                pair.a = 1
                pair.b = 1
            run(take, give)
            return seen[0]
        """,
        {(0, 0), (0, 1), (1, 0), (1, 1)},
    ),
    "an object in place of a module": (
        {"settings.py": "import sys\nclass Settings:\n    debug = True\nsys.modules[__name__] = Settings()"},
        """
        import settings
        def scenario():
            seen = []
            def take():
                from settings import debug
                seen.append(debug)
            run(take, take)
            return seen
        """,
        {(True, True)},
    ),
    "attributes of an object in place of a module": (
        {
            "settings.py": "import sys\nclass Settings:\n    def __init__(self):\n        self.a = self.b = 0\n"
            "sys.modules[__name__] = Settings()"
        },
        """
        import settings
        def scenario():
            seen = []
            def take():
                from settings import a, b
                seen.append((a, b))
            def give():
                settings.a = 1
                settings.b = 1
            run(take, give)
            return seen[0]
        """,
        {(0, 0), (0, 1), (1, 0), (1, 1)},
    ),
    "a module that fails is there meanwhile": (
        {"bag/__init__.py": "", "bag/bad.py": "1 / 0"},
        """
        import bag, sys
        def scenario():
            seen = []
            def load():
                try:
                    import bag.bad
                except ZeroDivisionError:
                    pass
            run(load, lambda: seen.append("bag.bad" in sys.modules))
            return seen[0]
        """,
        {False, True},
    ),
    "the folders of a package": (
        PART,
        """
        import bag
        def scenario():
            seen = []
            def load():
                try:
                    import bag.part
                    seen.append(True)
                except ImportError:
                    seen.append(False)
            run(load, lambda: bag.__path__.clear())
            return seen[0]
        """,
        {False, True},
    ),
    "the folders of all modules": (
        {"more/found.py": ""},
        """
        import os, sys
        def scenario():
            seen = []
            def load():
                try:
                    import found
                    seen.append(True)
                except ImportError:
                    seen.append(False)
            more = os.path.join(os.path.dirname(__file__), "more")
            run(load, lambda: sys.path.append(more))
            return seen[0]
        """,
        {False, True},
    ),
    "a module that another thread forbids": (
        PART,
        """
        import bag, sys
        def scenario():
            seen = []
            def load():
                try:
                    import bag.part
                    seen.append(True)
                except ImportError:
                    seen.append(False)
            def forbid():
                sys.modules["bag.part"] = None
            run(forbid, load)
            return seen[0]
        """,
        {False, True},
    ),
    "the function that is asked for missing names": (
        {"bag/__init__.py": ""},
        """
        import bag
        def scenario():
            seen = []
            def give():
                bag.__getattr__ = lambda name: 1
            run(give, lambda: seen.append(getattr(bag, "missing", 0)))
            return seen[0]
        """,
        {0, 1},
    ),
    "a module that is loaded when it is first used": (
        LAZY,
        LOADS_LAZILY
        + """
            run(lambda: module.state, lambda: seen.append(len(log.items)))
            return seen[0]
        """,
        {0, 1},
    ),
    "a module that would be loaded when it is first used": (
        LAZY,
        LOADS_LAZILY
        + """
            run(lambda: seen.append(module), lambda: seen.append(module))
            return len(log.items)
        """,
        {0},
    ),
    "all names": (
        {"bag/__init__.py": "__all__ = []\nN = 1"},
        """
        import bag
        def scenario():
            seen = []
            def take():
                names = {}
                exec("from bag import *", names)
                seen.append("N" in names)
            run(take, lambda: bag.__all__.append("N"))
            return seen[0]
        """,
        {False, True},
    ),
}


def write(directory: Path, files: Files) -> None:
    for name, source in files.items():
        file = directory / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
def test_all_that_can_happen_is_found(tmp_path: Path, name: str, strategy: str) -> None:
    files, source, expected = PROGRAMS[name]
    write(tmp_path, files)
    found = outcomes(tmp_path, source, strategy)
    assert {tuple(value) if isinstance(value, list) else value for value in found} == expected
    assert not found.incomplete


def test_what_the_library_keeps_of_folders_is_the_same_in_every_run(tmp_path: Path) -> None:
    """What one run had put into `sys.path_importer_cache` was there in the next, so a replay found other events."""
    write(tmp_path, {"bag/__init__.py": ""})
    program = tmp_path / "program.py"
    program.write_text(
        dedent(
            """
            import pkgutil
            import threading
            import bag

            def scenario():
                seen = []
                def look():
                    pkgutil.get_importer(bag.__path__[0])
                    seen.append(len(seen))
                threads = [threading.Thread(target=look) for _ in range(2)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert seen == [0, 1]
            """
        )
    )
    report = dpor.check(f"{program}::scenario")
    assert report.verdict == "fail"
    sys.path_importer_cache.pop(str(tmp_path / "bag"), None)  # as in another process
    assert dpor.replay(report.findings[0].saved).line == 16  # type: ignore[arg-type]
