"""Run one of CPython's own test suites against instrumented copies of standard library modules.

    python run_suite.py test.test_heapq heapq [--plain | --everything]

`--plain` instruments nothing, `--everything` also hooks every global and every closure cell, as if each were rebound.
Prints, as the last line, a JSON object: the outcomes of each test that ran, by its id, and the modules instrumented.
Runs in a process of its own, since it throws away almost every module that is loaded: whatever the tests import is then
imported anew, with the named modules instrumented (and hooks that do the plain thing), and the rewriter keeps the
copies that it began with.
"""

from __future__ import annotations

import ast
import importlib.machinery
import io
import json
import re
import sys
import tokenize
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from plain_hooks import PLAIN  # noqa: E402

from dpor.python.rewrite import instrument, scopes  # noqa: E402

KEPT = frozenset({"__main__", "codecs", "encodings", "importlib", "site", "zipimport"})
"""Modules that the interpreter itself holds on to. Those in C stay as well: they do not like to be loaded twice."""


class InstrumentingLoader(importlib.machinery.SourceFileLoader):
    """Compiles the module through `instrument`, and reads or writes no cached bytecode."""

    loaded: ClassVar[list[str]] = []

    def path_stats(self, path: str) -> dict[str, float]:
        raise OSError("instrumented code is not cached")

    def set_data(self, path: str, data: bytes, *, _mode: int = 0o666) -> None:
        pass

    def source_to_code(self, data, path, *_, _optimization: int = -1):  # type: ignore[no-untyped-def, override]
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        source = data.decode(encoding)
        return instrument(source, path, visible_globals=self.visible(source))

    visible = staticmethod(lambda source: frozenset())

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """With the hooks. (To put them there in `exec_module` would be one more frame between import and module.)"""
        self.loaded.append(spec.name)
        module = types.ModuleType(spec.name)
        module.__dict__.update(PLAIN)
        return module


class InstrumentingFinder(importlib.machinery.PathFinder):
    """Finds the modules that are to be instrumented."""

    modules: frozenset[str] = frozenset()

    @classmethod
    def find_spec(cls, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None):  # type: ignore[no-untyped-def, override]
        if fullname not in cls.modules:
            return None
        spec = super().find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        spec.loader = InstrumentingLoader(spec.loader.name, spec.loader.path)
        return spec


def all_globals(source: str) -> frozenset[str]:
    return frozenset(scopes.scopes_of(ast.parse(source)).module.bound)


def forget_modules() -> None:
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] not in KEPT and str(getattr(module, "__file__", "")).endswith(".py"):
            del sys.modules[name]


def hook_everything() -> None:
    InstrumentingLoader.visible = staticmethod(all_globals)
    scopes.Scope.is_final = lambda scope, name: name not in scope.captured  # type: ignore[method-assign]


def main(suite: str, modules: list[str], options: list[str]) -> None:
    forget_modules()
    if "--plain" not in options:
        InstrumentingFinder.modules = frozenset(modules)
        sys.meta_path.insert(0, InstrumentingFinder)
    if "--everything" in options:
        hook_everything()
    import unittest

    outcomes: dict[str, list[str]] = {}

    def told(kind: str, test: unittest.TestCase) -> None:
        outcomes.setdefault(re.sub(r"\b0x[0-9a-fA-F]+", "0x", test.id()), []).append(kind)

    class Recording(unittest.TextTestResult):
        """Notes how each test ended; several tests of one id (subclasses made in a loop) have a list."""

        def addSuccess(self, test: unittest.TestCase) -> None:
            super().addSuccess(test)
            told("passed", test)

        def addError(self, test: unittest.TestCase, err: Any) -> None:
            super().addError(test, err)
            told("failed", test)

        def addFailure(self, test: unittest.TestCase, err: Any) -> None:
            super().addFailure(test, err)
            told("failed", test)

        def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
            super().addSubTest(test, subtest, err)
            if err is not None:
                told("failed", test)

        def addSkip(self, test: unittest.TestCase, reason: str) -> None:
            super().addSkip(test, reason)
            told("skipped", test)

        def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
            super().addExpectedFailure(test, err)
            told("failed as expected", test)

        def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
            super().addUnexpectedSuccess(test)
            told("passed unexpectedly", test)

    runner = unittest.TextTestRunner(verbosity=0, buffer=True, resultclass=Recording)
    unittest.main(module=suite, argv=[suite], exit=False, testRunner=runner)
    print(json.dumps({"outcomes": outcomes, "instrumented": InstrumentingLoader.loaded}))


if __name__ == "__main__":
    arguments = sys.argv[2:]
    main(sys.argv[1], [a for a in arguments if a[0] != "-"], [a for a in arguments if a[0] == "-"])
