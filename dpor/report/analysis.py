"""What `dpor analyze` reports: as text, as annotated source, and as one JSON object (`analysis.schema.json`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import ClassVar

import attrs

from dpor.core.schedule import to_json_text


@attrs.frozen
class MutableField:
    """Why a field is not immutable, and where that shows; path "" and line 0: outside the program."""

    field: str
    why: str
    path: str
    line: int


@attrs.frozen
class FunctionAccesses:
    """The accesses (such as "r C.x") that a function, what it calls and threads that it starts may make."""

    path: str
    line: int
    function: str
    accesses: tuple[str, ...]


@attrs.frozen
class JudgedAccess:
    """An access in the source. Lines count from 1, columns in bytes from 0; mode "r" or "w"; `of`: the object, or the
    variable through which it is accessed, "" if objects are not told apart; label: immutable, thread-local or relevant.
    """

    path: str
    line: int
    end_line: int
    column: int
    end_column: int
    function: str
    mode: str
    field: str
    of: str
    label: str
    why: str

    def __str__(self) -> str:
        return f"{self.mode} {self.field}" + (f" of {self.of}" if self.of else "")


@attrs.frozen
class Analysis:
    """The facts about one program. `entry`: what is run, "path::name"; `unknown`: why nothing is known about the
    program, or ""; `dot`: the call graph, for Graphviz."""

    schema: ClassVar[int] = 1

    target: str
    entry: str
    field_access: str
    pointers: str
    files: tuple[str, ...]
    unknown: str
    immutable: tuple[str, ...]
    mutable: tuple[MutableField, ...]
    functions: tuple[FunctionAccesses, ...]
    accesses: tuple[JudgedAccess, ...]
    dot: str


def json_text(analysis: Analysis) -> str:
    """Return the text of the JSON file, which ends with a newline."""
    return to_json_text({"schema": Analysis.schema, **attrs.asdict(analysis)})


def lines(analysis: Analysis) -> Iterator[str]:
    """Yield the facts with their reasons and places, as lines."""
    if analysis.unknown:
        yield from _nothing(analysis)
        return
    yield "immutable fields" + ("" if analysis.immutable else ": none")
    for field in analysis.immutable:
        yield f"  {field}"
    yield "other fields" + ("" if analysis.mutable else ": none")
    for each in analysis.mutable:
        yield f"  {each.field}: {each.why}" + (f", {each.path}:{each.line}" if each.line else "")
    yield "until it returns, a function may access"
    for function in analysis.functions:
        accesses = ", ".join(function.accesses) or "nothing that is written after import"
        yield f"  {function.path}:{function.line} {function.function}: {accesses}"
    yield "accesses" + ("" if analysis.accesses else ": none that may matter to another thread")
    for access in analysis.accesses:
        yield f"  {access.path}:{access.line} {access.function}: {access}: {access.label}: {access.why}"


def _nothing(analysis: Analysis) -> Iterator[str]:
    yield f"nothing is known of this program: {analysis.unknown}; it is searched without facts"


def annotated(analysis: Analysis, sources: Mapping[str, str]) -> Iterator[str]:
    """Yield each file's source, with the verdict on each access below its line."""
    if analysis.unknown:
        yield from _nothing(analysis)
    below: dict[tuple[str, int], dict[str, None]] = defaultdict(dict)
    for access in analysis.accesses:
        below[access.path, access.line][f"{access}: {access.label}: {access.why}"] = None
    for path, text in sources.items():
        yield f"{path}:"
        for number, line in enumerate(text.splitlines(), 1):
            yield f"{number:5}  {line}".rstrip()
            indent = " " * (len(line) - len(line.lstrip()))
            for verdict in below[path, number]:
                yield f"{'':5}  {indent}# {verdict}"
