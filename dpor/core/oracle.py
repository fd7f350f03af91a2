"""Oracles: what lets a search leave out choices because it knows something of the program, such as the static analysis.

Users can write their own. Only `sa` asks them. What an oracle says may be wrong: the search compares all that it relied
on with what happened; what is contradicted is withdrawn and named, and the search starts again (`dpor.explorers.sa`).
docs/embedding.md has an example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import CodeType
from typing import NamedTuple, Protocol


class ProgramSource(NamedTuple):
    """The program that an oracle is asked about.

    texts    the texts of the program's files, by path
    names    the names of their modules, by path
    entry    what is run, as "path::dotted.name"
    """

    texts: Mapping[str, str]
    names: Mapping[str, str]
    entry: str


class At(NamedTuple):
    """The place that a frame has reached: its code, and the offset of its instruction in bytes."""

    code: CodeType
    offset: int

    @property
    def path(self) -> str:
        return self.code.co_filename

    @property
    def span(self) -> tuple[int, int, int, int]:
        """Position of the expression there: line, end line (from 1), column, end column (bytes, from 0); 0 where
        unknown."""
        spans = list(self.code.co_positions())
        line, end_line, column, end_column = (
            spans[self.offset // 2] if 0 <= self.offset // 2 < len(spans) else (None,) * 4
        )
        return line or 0, end_line or 0, column or 0, end_column or 0


class Oracle(Protocol):
    """An oracle for one program. The search asks it at each choice that `original` would make at a shared access."""

    def ruled_out(self, stack: Sequence[At], others: Iterable[Sequence[At]]) -> Collection[str]:
        """Return the facts, in words, from which it follows that the access that a thread is about to make conflicts
        with no access that the other threads will make from now on; return none if there are no such facts. Each stack
        has the frames of a thread that are in the program, the innermost first. The answer must depend on the arguments
        alone."""
        ...
