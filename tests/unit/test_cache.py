"""Rewritten modules on disk: what is found again, what is made anew, and that nothing there can do harm."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import pytest

import dpor
from dpor.python.program import program_module
from dpor.python.rewrite import cache
from dpor.python.rewrite.cache import Cache


def making(value: object, made: list[object]) -> Callable[[], object]:
    """Makes the value, and keeps a note of it."""

    def make() -> object:
        made.append(value)
        return value

    return make


def got(kept: Cache, *given: object) -> bool:
    """Is the entry there? If it is not, it is made."""
    made: list[object] = []
    assert kept.get(making((1, "a"), made), "test", *given) == (1, "a")
    return not made


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.entry"))


def test_what_was_made_is_found_by_the_next_process(tmp_path: Path) -> None:
    assert not got(Cache(tmp_path), "source", 1)
    assert got(Cache(tmp_path), "source", 1)


@pytest.mark.parametrize("given", [("source ", 1), ("source", 2), ("source",), ("sourc", "e", 1), ("source", "1")])
def test_other_source_or_options_are_another_entry(tmp_path: Path, given: tuple[object, ...]) -> None:
    assert not got(Cache(tmp_path), "source", 1)
    assert not got(Cache(tmp_path), *given)


def test_another_rewriter_or_python_is_another_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not got(Cache(tmp_path), "source")
    with monkeypatch.context() as changed:
        changed.setattr(cache, "_rewriter", lambda: "another")
        assert not got(Cache(tmp_path), "source")
    with monkeypatch.context() as changed:
        changed.setattr(sys, "version", "4.0")
        assert not got(Cache(tmp_path), "source")
    assert got(Cache(tmp_path), "source")


def test_code_is_kept_with_its_file_and_lines(tmp_path: Path) -> None:
    code = compile("def f():\n    return 7", "there.py", "exec")
    Cache(tmp_path).get(lambda: code, "code")
    found = Cache(tmp_path).get(lambda: compile("", "", "exec"), "code")
    assert isinstance(found, CodeType)
    assert found == code
    assert (found.co_filename, list(found.co_lines())) == ("there.py", list(code.co_lines()))


def damages() -> list[Callable[[bytes], bytes]]:
    return [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: bytes([content[0] ^ 1]) + content[1:],
        lambda content: bytes(len(content)),
    ]


@pytest.mark.parametrize("damage", damages())
def test_a_torn_file_is_made_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    assert not got(Cache(tmp_path), "source")
    (file,) = entries(tmp_path)
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert not got(Cache(tmp_path), "source")
    assert file.read_bytes() == good


def test_a_file_under_the_name_of_another_is_made_again(tmp_path: Path) -> None:
    assert not got(Cache(tmp_path), "first")
    assert not got(Cache(tmp_path), "second")
    one, other = entries(tmp_path)
    other.write_bytes(one.read_bytes())
    assert [got(Cache(tmp_path), "first"), got(Cache(tmp_path), "second")].count(False) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no users here")
def test_what_another_user_wrote_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not got(Cache(tmp_path), "source")
    another = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: another)
    assert not got(Cache(tmp_path), "source")


def test_nobody_else_may_read_or_write_what_is_kept(tmp_path: Path) -> None:
    got(Cache(tmp_path / "cache"), "source")
    (file,) = entries(tmp_path / "cache")
    assert (file.parent.stat().st_mode & 0o077, file.stat().st_mode & 0o077) == (0, 0)


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Cache(tmp_path / "file" / "cache")
    assert not got(kept, "source")
    assert not got(kept, "source")
    assert kept.size() == (0, 0)


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*names: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not got(Cache(tmp_path), "source")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_kept_is_made_each_time(tmp_path: Path) -> None:
    deep: tuple[object, ...] = ()
    for _ in range(5000):
        deep = (deep,)
    made: list[object] = []
    for _ in range(2):
        Cache(tmp_path).get(making(deep, made), "test")  # type: ignore[type-var]
    assert len(made) == 2
    assert entries(tmp_path) == []


def test_several_may_write_the_same_entry_at_once(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from dpor.python.rewrite.cache import Cache
for n in range(200):
    value = ("x" * 10_000, n)
    assert Cache(Path({str(tmp_path)!r})).get(lambda: value, "test", n) == value
"""
    writers = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(entries(tmp_path)) == 200
    assert {path.name for path in tmp_path.iterdir()} - {path.name for path in entries(tmp_path)} == {"tidied"}


def test_threads_may_write_the_same_entry_at_once(tmp_path: Path) -> None:
    kept, ready, values = Cache(tmp_path), threading.Barrier(4), []

    def get() -> None:
        ready.wait()
        for n in range(50):
            values.append(kept.get(lambda: (n, "x" * 1000), "test", n) == (n, "x" * 1000))

    threads = [threading.Thread(target=get) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == [True] * 200


def test_what_was_used_last_long_ago_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(10):
        Cache(tmp_path).get(lambda: ("x" * 1000,), "test", n)
    for age, file in enumerate(entries(tmp_path)):
        os.utime(file, (time.time() - 1000 * age,) * 2)
    old = entries(tmp_path)
    monkeypatch.setattr(cache, "MOST_BYTES", 8000)
    Cache(tmp_path).get(lambda: ("y",), "test", "y")
    assert len(entries(tmp_path)) == 11  # it looks once in an hour
    os.utime(tmp_path / "tidied", (0, 0))
    Cache(tmp_path).get(lambda: ("z",), "test", "z")
    assert set(old[:3]) <= set(entries(tmp_path))
    assert sum(file.stat().st_size for file in entries(tmp_path)) <= 4000


def test_what_is_used_is_not_old(tmp_path: Path) -> None:
    assert not got(Cache(tmp_path), "source")
    (file,) = entries(tmp_path)
    os.utime(file, (0, 0))
    assert got(Cache(tmp_path), "source")
    assert time.time() - file.stat().st_mtime < 60


def test_one_process_keeps_so_much_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_NEW", 3)
    kept = Cache(tmp_path)
    for n in range(5):
        got(kept, n)
    assert len(entries(tmp_path)) == 3


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.user_folder() == tmp_path / "dpor"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, by the specification
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.user_folder() == Path.home() / ".cache" / "dpor"


PROGRAM = """\
import threading
from helping import count

def main():
    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def check(folder: Path, **options: bool) -> tuple[int, int]:
    """What a process that begins anew finds, and how often it rewrites."""
    program_module.instrumented_code.cache_clear()
    program_module._read.cache_clear()
    rewritten = 0
    instrument = program_module.instrument

    def counting(*args: object, **kwargs: object) -> CodeType:
        nonlocal rewritten
        rewritten += 1
        return instrument(*args, **kwargs)  # type: ignore[arg-type]

    program_module.instrument = counting  # type: ignore[assignment, attr-defined]
    try:
        report = dpor.check(f"{folder / 'program.py'}::main", all=True, **options)  # type: ignore[arg-type]
    finally:
        program_module.instrument = instrument  # type: ignore[attr-defined]
    return report.executions, rewritten


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(cache, "_in_use", Cache(None))
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "helping.py").write_text("n = 0\ndef count():\n    global n\n    n += 1\n")
    return tmp_path


def test_a_second_check_rewrites_nothing(program: Path) -> None:
    assert check(program) == (4, 3)
    assert check(program) == (4, 0)


def test_a_changed_module_is_rewritten(program: Path) -> None:
    check(program)
    (program / "helping.py").write_text("n = 0\ndef count():\n    pass\n")
    assert check(program) == (1, 1)


def test_nothing_is_kept_with_no_cache(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(program, cache=False) == (4, 3)
    monkeypatch.setenv(cache.VARIABLE, "1")
    assert check(program) == (4, 3)
    assert not (program / "caches").exists()
    monkeypatch.delenv(cache.VARIABLE)
    assert check(program) == (4, 3)
    assert check(program, cache=False) == (4, 3)


def test_what_is_executed_is_kept_too(program: Path) -> None:
    (program / "helping.py").write_text("n = 0\nexec('def count():\\n    global n\\n    n += 1\\n')\n")
    first = check(program)
    files = len(entries(program / "caches" / "dpor"))
    assert check(program)[0] == first[0]
    assert len(entries(program / "caches" / "dpor")) == files
