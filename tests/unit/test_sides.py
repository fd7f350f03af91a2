"""Whose module is in `sys.modules`, while a program runs and afterwards."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from dpor.python.program.sides import Sides


def test_a_module_that_both_sides_have_stays_with_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `collections.abc` from Python 3.14 on, which `collections` puts into `sys.modules`."""
    monkeypatch.setitem(sys.modules, "pair.shared", shared := ModuleType("pair.shared"))
    sides = Sides(lambda name: name.startswith("pair"))
    for _ in range(3):
        sides.enter()
        sys.modules["pair.shared"] = shared
        sys.modules["plain.part"] = ModuleType("plain.part")  # without hooks: the host's modules are hidden at once
        sides.leave()
        assert sys.modules["pair.shared"] is shared
