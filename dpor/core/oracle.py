"""What knows something of a program that lets a search leave out choices: the static analysis, or one of your own.

Only `sa` asks. What an oracle says may be wrong: the search holds all that it relied on against what happened; what is
contradicted is withdrawn, named, and the search starts again (`dpor.explorers.sa`). docs/embedding.md has an example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import CodeType
from typing import NamedTuple, Protocol


class ProgramSource(NamedTuple):
    """texts   of the program's files, by path
    names    of their modules, by path
    entry    what is run, "path::dotted.name"
    """

    texts: Mapping[str, str]
    names: Mapping[str, str]
    entry: str


class At(NamedTuple):
    """Where a frame stands: its code, and the offset of its instruction in bytes."""

    code: CodeType
    offset: int

    @property
    def path(self) -> str:
        return self.code.co_filename

    @property
    def span(self) -> tuple[int, int, int, int]:
        """Of what is evaluated there: line, end line (from 1), column, end column (bytes, from 0); 0 where unknown."""
        spans = list(self.code.co_positions())
        line, end_line, column, end_column = (
            spans[self.offset // 2] if 0 <= self.offset // 2 < len(spans) else (None,) * 4
        )
        return line or 0, end_line or 0, column or 0, end_column or 0


class Oracle(Protocol):
    """Asked at each choice that `original` would make at an access to shared data."""

    def ruled_out(self, stack: Sequence[At], others: Iterable[Sequence[At]]) -> Collection[str]:
        """The facts, in words, by which the access that a thread is about to make conflicts with none that the other
        threads will make from now on; empty: there are none. Each stack has the frames of a thread that are in the
        program, the innermost first. The answer must depend on the arguments alone."""
        ...
