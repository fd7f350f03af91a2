"""What packages have stored in the library, and how the library forgets it."""

from __future__ import annotations

import collections
import textwrap
from collections.abc import MutableSet
from types import ModuleType

from dpor.python.program.leftovers import Library

SOURCE = """
class Mark: pass
class Marked: pass
def dedent(text): return text

class Lazy:
    def __getattribute__(self, name): raise RuntimeError(name)

lazy = Lazy()
"""


def test_registrations_and_attributes_of_dropped_modules_are_undone() -> None:
    class Kept:
        pass

    dropped = ModuleType("dropped")
    exec(SOURCE, vars(dropped))
    library, original = Library(), textwrap.dedent
    MutableSet.register(Kept)
    MutableSet.register(dropped.Marked)
    collections.Counter.mark = dropped.Mark()  # type: ignore[attr-defined]
    collections.Counter.kept = kept = Kept()  # type: ignore[attr-defined]
    textwrap.dedent = dropped.dedent
    try:
        library.restore([dropped])
        assert not issubclass(dropped.Marked, MutableSet)
        assert issubclass(Kept, MutableSet)
        assert issubclass(set, MutableSet)
        assert not hasattr(collections.Counter, "mark")
        assert collections.Counter.kept is kept  # type: ignore[attr-defined]
        assert textwrap.dedent is original
    finally:
        textwrap.dedent = original
        del collections.Counter.kept  # type: ignore[attr-defined]
