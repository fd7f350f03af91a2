"""A scenario as the source of a test, which needs nothing else: what the calls may answer is written in it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import attrs

from dpor.python.program.border import folder_to_import_from
from dpor.python.specs.frozen_values import freeze, frozen_in_words
from dpor.scenarios.answers import Answer, Orders
from dpor.scenarios.operations import Call
from dpor.scenarios.sizes import Scenario

_CALL = '''
def call(method, *args):
    """Return what the call answers; an exception is an answer, too."""
    try:
        return method(*args)
    except Exception as error:
        return f"raises {type(error).__name__}"
'''


@attrs.frozen
class Importable:
    """How a test imports what makes the objects: `from module import name`, and the folder to import it from."""

    module: str
    name: str
    folder: Path


def importable(make: Any) -> Importable | None:
    """Return how to import a class or function, or what is named so; None if a test cannot."""
    if isinstance(make, str):
        path, separator, name = make.partition("::")
        if separator:
            return _of_file(Path(path), name)
        module, _, name = make.partition(":")
        return Importable(module, name, Path.cwd())
    name = getattr(make, "__qualname__", "<>")
    if "<" in name:
        return None
    file = getattr(sys.modules.get(make.__module__), "__file__", None)
    return None if file is None else _of_file(Path(file), name)


def _of_file(file: Path, name: str) -> Importable:
    file = file.resolve()
    folder = folder_to_import_from(file)
    return Importable(".".join(file.relative_to(folder).with_suffix("").parts), name, folder)


def source_of(
    scenario: Scenario, threads: Sequence[str], found: Importable, orders: Orders | None, about: str
) -> str | None:
    """Return the source; None if it cannot be written: if arguments or answers are no literals.

    orders   what the calls may answer; None: the test does not look at it
    """
    if not all(_literal(freeze(arg)) for call in scenario.calls for arg in call.args):
        return None
    allowed = None if orders is None else [_answers_in_source(answers) for answers in sorted(orders.allowed, key=repr)]
    if allowed is not None and None in allowed:
        return None
    lines = [f'"""{about}"""', "", "import threading", "", f"from {found.module} import {found.name.partition('.')[0]}"]
    lines += ["", "import dpor"]
    if allowed is not None:
        lines += ["", "ALLOWED = [", *[f"    {answers}," for answers in allowed], "]"]
        lines += ['"""What the calls of each thread answer if they come one after another, in every order."""', ""]
        lines += _CALL.splitlines()
    lines += ["", "", *_scenario(scenario, threads, found.name, allowed is not None)]
    lines += ["", "", "@dpor.interleave", f"def test_{_small(found.name)}():", "    scenario()", ""]
    return "\n".join(lines)


def _scenario(scenario: Scenario, threads: Sequence[str], name: str, asks: bool) -> Iterator[str]:
    obj = _small(name)
    answers: list[str] = []

    def made(calls: Sequence[Call], kept_in: str) -> Iterator[str]:
        """Yield the calls; where answers count, these are kept in a list of this name."""
        if not asks:
            yield from [f"{obj}.{each}" for each in calls]
            return
        if calls:
            answers.append(f"*{kept_in}")
            asked = [f"call({', '.join([f'{obj}.{each.method}', *map(repr, each.args)])})" for each in calls]
            yield f"{kept_in} = [{', '.join(asked)}]"

    yield "def scenario():"
    yield f"    {obj} = {name}()"
    yield from [f"    {line}" for line in made(scenario.beginning, "before")]
    names = [thread.lower() for thread in threads[: len(scenario.threads)]]
    if asks:
        yield f"    {', '.join(names)} = {', '.join('[]' for _ in names)}"
    for thread, calls in zip(names, scenario.threads, strict=True):
        yield ""
        yield f"    def calls_of_{thread}():"
        if asks:
            answers.append(f"*{thread}")
            asked = [f"call({', '.join([f'{obj}.{each.method}', *map(repr, each.args)])})" for each in calls]
            yield from [f"        {thread}.append({each})" for each in asked]
        else:
            yield from [f"        {line}" for line in made(calls, thread)]
    yield ""
    yield "    threads = ["
    for thread in names:
        yield f'        threading.Thread(target=calls_of_{thread}, name="{thread.capitalize()}"),'
    yield "    ]"
    yield "    for thread in threads:"
    yield "        thread.start()"
    yield "    for thread in threads:"
    yield "        thread.join()"
    yield from [f"    {line}" for line in made(scenario.end, "after")]
    if asks:
        yield f"    answers = ({', '.join(answers)},)"
        yield '    assert answers in ALLOWED, f"no order of the calls has the answers {answers}"'


def _small(name: str) -> str:
    """Return the last part of the name in small letters, as the name of a variable."""
    word = name.rpartition(".")[2].lower()
    return f"the_{word}" if word in ("call", "threads", "thread", "answers", "before", "after") else word


def _answers_in_source(answers: Sequence[Answer]) -> str | None:
    texts = []
    for answer in answers:
        kind, *rest = cast("tuple[str, Any]", answer)
        if kind == "raised":
            texts.append(repr(f"raises {rest[1]}"))
        elif kind == "returned" and _literal(rest[0]):
            texts.append(frozen_in_words(rest[0]))
        else:
            return None
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def _literal(frozen: Any) -> bool:
    """True if the text of a frozen value is a literal of the same value."""
    try:
        return bool(freeze(ast.literal_eval(frozen_in_words(frozen))) == frozen)
    except (ValueError, SyntaxError):
        return False
