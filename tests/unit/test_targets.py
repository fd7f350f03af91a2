"""Which callables are targets, and what is said of what is none."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpor


class Counter:
    """A host's class; each way to call it below loses an update."""

    def __init__(self, hits: int = 0) -> None:
        self.hits = hits

    def hit(self) -> None:
        self.hits += 1

    def twice(self) -> None:
        threads = [threading.Thread(target=self.hit) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert self.hits == 2

    def __call__(self) -> None:
        self.twice()

    @classmethod
    def made(cls) -> None:
        cls().twice()


class AtOnce(Counter):
    def __init__(self) -> None:
        super().__init__()
        self.twice()


def count(counter: Counter) -> None:
    counter.twice()


@pytest.mark.parametrize(
    "target",
    [Counter().twice, Counter(), Counter.made, AtOnce, functools.partial(count, Counter())],
    ids=["method", "callable object", "class method", "class", "partial"],
)
def test_callables_without_arguments(target: Callable[[], object]) -> None:
    (failure,) = dpor.check(target, all=True).findings
    assert failure.message.startswith("AssertionError")
    assert failure.saved is not None
    assert dpor.replay(failure.saved, target).trace == failure.trace


async def coroutine() -> None: ...


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        (3, "a target is a callable or a string such as 'path/file.py::name', not 3"),
        (None, "not None"),
        (b"p.py::main", "not b'p.py::main'"),
        (print, "print: a target is written in Python"),
        (functools.partial(count), "count needs arguments"),
        (functools.partial(coroutine), "is async"),
        ("/etc/passwd::main", "/etc/passwd:1: invalid syntax"),
        ("p.py", r"a target is path/file.py::name \(as in p.py::main, p.py::again\), package.module:name"),
        ("p.py:main", "p.py:main: a function of a file is written with two colons: p.py::main"),
        ("p.py::main.x", "there is no 'x' in main; it has nothing that can be called"),
        ("folder::main", "there is no file folder"),
        ("latin.py::main", "latin.py: invalid or missing encoding"),
        ("null.py::main", r"null.py: source code (string )?cannot contain null bytes"),
    ],
)
def test_what_is_no_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: Any, complaint: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text("def main(): pass\ndef _own(): pass\ndef work(n): pass\ndef again(n=1, *, k=2): pass\n")
    Path("folder").mkdir()
    Path("latin.py").write_bytes(b"name = '\xe4'\ndef main(): pass\n")
    Path("null.py").write_bytes(b"name = '\0'\ndef main(): pass\n")
    with pytest.raises(dpor.BadTarget, match=complaint) as raised:
        dpor.check(target)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"name": "x"}, "--name x: only programs of .json and .jsonl files"),
        ({"instrument": "nosuchpkg"}, "--instrument nosuchpkg: there is no such package"),
        ({"instrument": "logging"}, "--instrument logging: what runs the program cannot be a part of it"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number of 0 or more, not nan"),
        ({"max_seconds": float("inf")}, "not inf"),
    ],
)
def test_options_that_mean_nothing_here(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(dpor.UserError, match=complaint):
        dpor.check(Counter.made, **options)


def test_source_with_a_byte_order_mark_or_an_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mark.py").write_bytes(b"\xef\xbb\xbfdef main(): pass\n")
    Path("latin.py").write_bytes(b"# coding: latin-1\ndef main(): assert '\xe4' == chr(0xe4)\n")
    assert dpor.check("mark.py::main").verdict == "pass"
    assert dpor.check("latin.py::main").verdict == "pass"
