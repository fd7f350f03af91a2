"""Libraries are judged as programs are: what real threads show of their code, and of the process, dpor finds.

`DPOR_JUDGE_USES=all`: every use of each protocol (230), not one of each; `DPOR_JUDGE_PROGRAMS`: programs over the state
of a library and of the process, `DPOR_JUDGE_FIRST` the first seed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dpor.python.kernel.options import RuntimeOptions
from dpor.python.program import unseen_calls
from dpor.python.program.unseen_calls import is_to_be_watched
from tests.judge import library_state
from tests.judge.against import missed, search
from tests.judge.protocols import PROTOCOLS
from tests.judge.real_threads import Judge

_ALL = os.environ.get("DPOR_JUDGE_USES") == "all"
_EVERY = 1 if _ALL else 2  # of the protocols, each by its first use
_USES = [(name, use) for name in [*PROTOCOLS][::_EVERY] for use in PROTOCOLS[name].uses[: None if _ALL else 1]]
PROGRAMS = int(os.environ.get("DPOR_JUDGE_PROGRAMS", "10"))
FIRST = int(os.environ.get("DPOR_JUDGE_FIRST", "0"))
BLOCKS = 5
RUNS = 60


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interpreter tell of calls, as it does outside of tests: no hook sees that C calls a metaclass."""
    monkeypatch.setattr(unseen_calls, "is_to_be_watched", is_to_be_watched)


@pytest.mark.parametrize(("name", "use"), _USES, ids=[f"{name}: {use.splitlines()[0]}" for name, use in _USES])
def test_classes_of_libraries(name: str, use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = PROTOCOLS[name]
    library = f"judged_{abs(hash((name, use)))}"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / f"{library}.py").write_text(protocol.library())
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    file = tmp_path / "project" / f"uses_{library}.py"
    file.parent.mkdir()
    file.write_text(protocol.program(library, use))
    judge = Judge(file, judged=[library])
    seen = judge.systematically(1, 150, idle_main=True)
    found = search(f"{file}::scenario", none=200, optimal=400)
    sys.modules.pop(library, None)
    assert found.finished
    assert not found.incomplete
    assert len(seen) > 1, f"the use does not show what the library keeps: {seen}"
    message = missed(seen, found, file)
    assert not message, message


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # when its module is gone
@pytest.mark.parametrize("block", range(BLOCKS))
def test_state_of_libraries_and_of_the_process(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "elsewhere"))
    for seed in range(FIRST + block * PROGRAMS // BLOCKS, FIRST + (block + 1) * PROGRAMS // BLOCKS):
        file = tmp_path / f"program_{seed}.py"
        file.write_text(library_state.program(seed))
        found = search(f"{file}::scenario", none=100, optimal=800, options=RuntimeOptions(timeout_limit=1))
        if not found.finished:
            continue
        seen = Judge(file, judged=library_state.LIBRARIES).at_random(RUNS, seed)
        message = missed(seen, found, file)
        assert not message or found.incomplete, f"seed {seed}: {message}"
