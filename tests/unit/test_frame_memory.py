"""The memory of frames: read on every Python whose layout is known, and never if it is another one."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from dpor.python.states import memory


@pytest.fixture
def asked_again() -> Iterator[None]:
    memory.why_unreadable.cache_clear()
    yield
    memory.why_unreadable.cache_clear()


def test_frames_can_be_read_here() -> None:
    assert memory.why_unreadable() == ""


def test_another_layout_is_noticed_and_nothing_read(monkeypatch: pytest.MonkeyPatch, asked_again: None) -> None:
    """Here the word that tells how many slots are in use is taken for another one."""
    monkeypatch.setattr(memory, "_STACKTOP", memory._STACKTOP - 1)
    assert "not laid out as expected" in memory.why_unreadable()
    monkeypatch.undo()
    memory.why_unreadable.cache_clear()
    assert memory.why_unreadable() == ""


def test_an_empty_slot_is_told_from_one_that_holds_none() -> None:
    here, unbound = None, 1
    del unbound
    frame = sys._getframe()
    first, names = memory.slots_of(frame), frame.f_code.co_varnames
    assert memory.SLOTS[first + names.index("here")] is here
    with pytest.raises(ValueError, match="NULL"):
        memory.SLOTS[first + names.index("unbound")]
