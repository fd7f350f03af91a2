"""The command notices what differs; its file knows no place and no module of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.__main__ import EXPECTED, VERSION
from tests.golden.jobs import differences

ROOT = Path(__file__).parent.parent.parent
ONLY = "accesses of list: x.append"

pytestmark = pytest.mark.skipif(
    f"{sys.version_info[0]}.{sys.version_info[1]}" != VERSION, reason=f"expected.json is for Python {VERSION}"
)


def golden(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.golden", "--only", ONLY, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_nothing_differs_from_the_file() -> None:
    done = golden()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_planted_change_is_shown_until_it_is_accepted(tmp_path: Path) -> None:
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    key = next(key for key in expected if key.startswith(ONLY))
    file = tmp_path / "expected.json"
    file.write_text(json.dumps(expected | {key: "append: R x.structure"}), encoding="utf-8")
    done = golden("--file", str(file))
    assert done.returncode == 1
    assert done.stdout.splitlines()[:3] == [key, "  - append: R x.structure", f"  + {expected[key]}"]
    assert golden("--file", str(file), "--accept").returncode == 0
    assert json.loads(file.read_text(encoding="utf-8")) == expected


def test_lines_that_come_and_go_differ() -> None:
    assert differences({"a": "1", "b": "2"}, {"b": "2", "c": "3"}) == [
        "a",
        "  - 1",
        "  + (none)",
        "c",
        "  - (none)",
        "  + 3",
    ]


def test_the_file_is_sorted_and_names_no_module_of_ours_and_no_place() -> None:
    text = EXPECTED.read_text(encoding="utf-8")
    assert list(json.loads(text)) == sorted(json.loads(text))
    for word in ("dpor.", "statics.", " at 0x", "/tmp", str(ROOT)):
        assert word not in text, word
