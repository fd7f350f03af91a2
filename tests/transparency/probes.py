"""Objects that log everything that is done to them, and what a program did, with and without hooks."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from dpor.python.rewrite import instrument
from tests.plain_hooks import PLAIN

LONGEST = 3000
ADDRESS = re.compile("at 0x[0-9a-f]+")
FILE = "<program>"


class TooLong(BaseException):
    """The program did more than anybody wants to compare."""


class Log(list[str]):
    def __call__(self, *words: object) -> None:
        if len(self) >= LONGEST:
            raise TooLong
        text = " ".join(word if type(word) is str else _show(word) for word in words)
        self.append(ADDRESS.sub("at 0x", text))


class Probe:
    """Logs each operation. What an operation returns, and whether a probe is true, follows from names alone.

    Comparisons return bools: how often a chain asks the truth of another result is not kept (see `_chain`).
    """

    def __init__(self, name: str, log: Log) -> None:
        vars(self)["_name"] = name if len(name) < 60 else f"#{zlib.crc32(name.encode()):x}"
        vars(self)["_log"] = log

    def _new(self, *words: object) -> Probe:
        self._log(self._name, *map(_show, words))
        return Probe(" ".join(["(", self._name, *map(_show, words), ")"]), self._log)

    def __repr__(self) -> str:
        return str(self._name)

    def __getattr__(self, name: str) -> Probe:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._new("." + name)

    def __setattr__(self, name: str, value: object) -> None:
        self._log(self._name, f".{name} =", _show(value))

    def __delattr__(self, name: str) -> None:
        self._log("del", self._name, "." + name)

    def __getitem__(self, key: object) -> Probe:
        return self._new("[]", key)

    def __setitem__(self, key: object, value: object) -> None:
        self._log(self._name, f"[{_show(key)}] =", _show(value))

    def __delitem__(self, key: object) -> None:
        self._log("del", self._name, f"[{_show(key)}]")

    def __call__(self, *args: object, **kwargs: object) -> Probe:
        return self._new("call", args, sorted(kwargs.items()))

    def __bool__(self) -> bool:
        self._log("bool", self._name)
        return bool(zlib.crc32(self._name.encode()) & 2)

    def __iter__(self) -> Iterator[Probe]:
        self._log("iter", self._name)
        for i in range(2):
            self._log("next", self._name)
            yield Probe(f"{self._name}#{i}", self._log)

    def __contains__(self, item: object) -> bool:
        self._log(_show(item), "in", self._name)
        return len(self._name) % 2 == 0

    def keys(self) -> list[str]:
        self._log("keys", self._name)
        return ["k", "l"]

    def __enter__(self) -> Probe:
        return self._new("enter")

    def __exit__(self, kind: object, *_: object) -> bool:
        self._log("exit", self._name, getattr(kind, "__name__", kind))
        return kind is not TooLong and len(self._name) % 3 == 0

    async def __aenter__(self) -> Probe:
        return self._new("aenter")

    async def __aexit__(self, *_: object) -> None:
        self._log("aexit", self._name)

    async def __aiter__(self) -> Any:  # type: ignore[misc]
        for i in range(2):
            self._log("anext", self._name)
            yield Probe(f"{self._name}@{i}", self._log)

    def __await__(self) -> Iterator[Any]:
        self._log("await", self._name)
        yield
        return Probe(f"awaited {self._name}", self._log)

    def __format__(self, spec: str) -> str:
        self._log("format", self._name, spec)
        return f"<{self._name}>"

    def __hash__(self) -> int:
        return hash(self._name)


def _operator(name: str) -> Callable[..., Probe]:
    return lambda self, *args: self._new(name, *args)


def _comparison(name: str) -> Callable[..., bool]:
    return lambda self, other: bool(zlib.crc32(repr(self._new(name, other)).encode()) & 2)


BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor")
for _name in BINARY:
    for _prefix in ("", "r"):
        setattr(Probe, f"__{_prefix}{_name}__", _operator(_prefix + _name))
for _name in ("iadd", "isub", "imul", "ior", "neg", "pos", "invert"):
    setattr(Probe, f"__{_name}__", _operator(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Probe, f"__{_name}__", _comparison(_name))


def _show(value: object) -> str:
    """The value, without addresses."""
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(_show, value))})"
    if type(value) is slice:
        return f"slice({_show(value.start)}, {_show(value.stop)}, {_show(value.step)})"
    if isinstance(value, BaseException):
        return ", ".join([f"{type(value).__name__}: {value}", *_places(value)])
    if isinstance(value, str):
        return repr(ADDRESS.sub("at 0x", value))
    return repr(value) if type(value) in (Probe, int, float, bytes, bool, type(None)) else type(value).__name__


class Countdown:
    """True as often as it says, then False: what a `while` asks in a program that has to end."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.left = 3

    def __call__(self) -> bool:
        self.left = (self.left - 1) % 3
        self.log("again?", self.left)
        return self.left != 0


def run_coroutine(coroutine: Any) -> object:
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def environment(log: Log) -> dict[str, Any]:
    names = {name: Probe(name, log) for name in "abcdefg"}
    return {**names, "log": log, "again": Countdown(log), "run": run_coroutine, "__name__": "program"}


def outcome(execute: Callable[[dict[str, Any]], None]) -> list[str]:
    """What a program did: its log, how it ended, where, and what is in its globals."""
    log = Log()
    namespace = environment(log)
    ignored = {*namespace, *PLAIN, "__builtins__", "__warningregistry__"}
    ended = []
    try:
        execute(namespace)
    except (Exception, TooLong) as error:
        ended = [_show(error)]
    left = [
        f"{name} = {_show(value)}"
        for name, value in sorted(namespace.items())
        if name[0] not in ".$" and name not in ignored
    ]
    return [*log, *ended, *left]


def _places(error: BaseException) -> list[str]:
    """The parts of the program in the traceback."""
    places = []
    traced = error.__traceback__
    while traced is not None:
        code = traced.tb_frame.f_code
        if code.co_filename == FILE:
            places.append(f"at {next(islice(code.co_positions(), traced.tb_lasti // 2, None))}")
        traced = traced.tb_next
    return places


def plain(source: str) -> list[str]:
    code = compile(source, FILE, "exec", dont_inherit=True)
    return outcome(lambda namespace: exec(code, namespace))


def instrumented(source: str, visible_globals: frozenset[str] = frozenset()) -> list[str]:
    code = instrument(source, FILE, visible_globals=visible_globals)

    def execute(namespace: dict[str, Any]) -> None:
        namespace.update(PLAIN)
        exec(code, namespace)

    return outcome(execute)
