"""Saved schedules: what goes in comes out, foreign files and changed sources are refused in one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpor.core.errors import BadSchedule, NotDeterministic
from dpor.core.outcome import Finding, Kind
from dpor.core.schedule import SavedSchedule, SourceFile, changed_lines, follow, prefer, read_sources, to_json_text
from dpor.core.system import STOP, Chooser


def saved(**changes: Any) -> SavedSchedule:
    content: dict[str, Any] = {
        "target": "bank.py::scenario",
        "schedule": (0, 1, 1 | 3 << 16, 0),
        "finding": Finding(Kind.ASSERTION, "AssertionError: no money", "main", "bank.py", 7),
        "settings": {"strategy": "optimal", "max_steps": 9, "instrument": ["copy"]},
        "facts": [["a", 1]],
        "hash_seed": "0",
        "python": "3.11.7",
        "sources": {},
        "threads": ("main", "Thread-1"),
    }
    return SavedSchedule(**{**content, **changes})


def test_what_is_saved_is_loaded_again(tmp_path: Path) -> None:
    schedule = saved(sources={"bank.py": SourceFile.of(b"x = 1\n")})
    schedule.save(tmp_path / "s.json")
    assert SavedSchedule.load(tmp_path / "s.json") == schedule


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not a schedule file"),
        ("[1, 2", "not a schedule file"),
        ("{}", 'no "format": "dpor schedule" in it'),
        ("[]", 'no "format": "dpor schedule" in it'),
        ('{"format": "dpor schedule", "schema": 99}', "version 99; this dpor reads version 1"),
        ('{"format": "dpor schedule", "schema": 1}', "damaged schedule file: 'finding' is missing"),
    ],
)
def test_a_foreign_file_is_refused_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "f.json"
    path.write_text(text)
    with pytest.raises(BadSchedule) as caught:
        SavedSchedule.load(path)
    assert complaint in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schedule", [0, "1"]),
        ("schedule", [0, -1]),
        ("schedule", [True]),
        ("schedule", 5),
        ("sources", {"a.py": {"sha256": "x"}}),
        ("sources", []),
        ("finding", {"kind": "nonsense", "message": "", "thread": "", "file": None, "line": None}),
        ("settings", 3),
        ("threads", None),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "s.json"
    saved().save(path)
    content = json.loads(path.read_text())
    content[field] = value
    path.write_text(json.dumps(content))
    with pytest.raises(BadSchedule, match="a damaged schedule file"):
        SavedSchedule.load(path)


def test_a_missing_file_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadSchedule, match="cannot be read"):
        SavedSchedule.load(tmp_path / "none.json")
    with pytest.raises(BadSchedule, match="cannot be written"):
        saved().save(tmp_path / "no" / "such" / "folder.json")


def test_a_changed_source_is_refused_with_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "bank.py"
    source.write_text("a = 1\nb = 2\nc = 3\n")
    schedule = saved(sources=read_sources({str(source): SourceFile.of(source.read_bytes()).sha256}))
    assert list(schedule.sources) == ["bank.py"]
    schedule.check_sources()

    source.write_text("a = 1\nb = 20\nc = 3\n")
    with pytest.raises(BadSchedule, match=r"bank\.py has changed: line 2"):
        schedule.check_sources()

    source.unlink()
    with pytest.raises(BadSchedule, match=r"bank\.py is not there"):
        schedule.check_sources()


def test_a_source_edited_during_the_check_is_kept_as_it_was_run(tmp_path: Path) -> None:
    source = tmp_path / "bank.py"
    source.write_text("a = 2\n")
    run = SourceFile.of(b"a = 1\n").sha256
    sources = read_sources({str(source): run})
    assert sources[str(source)] == SourceFile(run, "")
    with pytest.raises(BadSchedule, match="not the text that was checked"):
        saved(sources=sources).check_sources()


def test_many_changes_are_counted() -> None:
    old = SourceFile.of(b"".join(b"%d\n" % n for n in range(40)))
    new = SourceFile.of(b"".join(b"%d\n" % (n if n % 4 else -n) for n in range(40)))
    assert changed_lines(old, new).endswith("and 3 more places")
    assert changed_lines(SourceFile.of(b"a\r\n"), SourceFile.of(b"a\n")) == "line ends only"


def test_lists_of_numbers_stay_on_one_line() -> None:
    content = {"schedule": [1, 2, 3], "text": "[\n1,\n2\n] [ 1, 2 ]", "none": []}
    assert json.loads(to_json_text(content)) == content
    assert '"schedule": [1, 2, 3],\n' in to_json_text(content)


def answers(choose: Chooser, masks: list[int]) -> list[int]:
    return [choose(mask) for mask in masks]


def test_follow_takes_the_actions_one_by_one() -> None:
    assert answers(follow([1, 0, 1 | 5 << 16]), [0b11, 0b11, 0b10]) == [1, 0, 1 | 5 << 16]


def test_follow_refuses_where_the_program_does_something_else() -> None:
    choose = follow([1])
    with pytest.raises(NotDeterministic, match=r"event 1: the schedule runs thread 1, which cannot run here .*0, 2"):
        choose(0b101)
    assert choose(0b10) == 1
    assert choose(0b10) == STOP


def test_prefer_takes_the_first_that_can_run_and_comes_back_for_the_others() -> None:
    assert answers(prefer([1, 0, 2]), [0b001, 0b110, 0b111]) == [0, 1, 2]


def test_prefer_stays_with_the_last_thread_when_the_guide_is_at_its_end() -> None:
    assert answers(prefer([1]), [0b11, 0b11, 0b101, 0b101]) == [1, 1, 0, 0]
