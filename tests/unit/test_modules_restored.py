"""`sys.modules` as a part of the state of the process: what is restored after a run, and what stays."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from dpor.python.effects.process_state import parts
from dpor.python.hooks.calls import process
from dpor.python.kernel.run import run
from dpor.python.program.layers import Layers

SOURCE = "/of/the/program/package.py"


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The modules of which only those stay that were imported."""
    assert process
    run.serve(Layers(lambda filename: filename == SOURCE, *[lambda name: False] * 3))
    modules = dict(sys.modules)
    monkeypatch.setattr(sys, "modules", modules)
    return modules


def module(name: str, file: str | None = None) -> ModuleType:
    made = ModuleType(name)
    if file is not None:
        made.__file__ = file
    return made


def test_what_was_imported_stays(restored: dict[str, ModuleType]) -> None:
    before = parts["sys.modules"].get()
    imported = restored["imported"] = module("imported")
    imported.__spec__ = importlib.util.spec_from_loader("imported", None)
    restored["imported.alias"] = module("other")
    restored["made"] = module("made")
    parts["sys.modules"].restore(before)
    assert "imported" in restored
    assert "imported.alias" in restored
    assert "made" not in restored


def test_a_package_that_puts_another_object_in_its_place_stays(restored: dict[str, ModuleType]) -> None:
    """The object has no `__spec__`. (It was dropped with all modules of the package, as kombu's and celery's are.)"""
    restored["package"] = module("package", SOURCE)
    before = parts["sys.modules"].get()
    replacement = restored["package"] = module("package", SOURCE)
    restored["later"] = module("later", SOURCE)
    restored["later.part"] = module("later.part")
    parts["sys.modules"].restore(before)
    assert restored["package"] is replacement
    assert {"later", "later.part"} <= restored.keys()
