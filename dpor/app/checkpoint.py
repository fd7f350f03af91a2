"""Checkpoints: JSON files from which a search that was cut goes on (`dpor resume`). `checkpoint.schema.json`, beside
this file, documents them.

A checkpoint holds what is left of the search (`dpor.explorers.saved_tree`), what has been found and learnt so far, and
all that must be the same in the process that goes on: sources, options, versions, the seed of hashes, the numbers of
locations and threads.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs

from dpor.core.errors import BadCheckpoint
from dpor.core.options import Options, options_of, plain
from dpor.core.schedule import SourceFile, changed_sources
from dpor.core.version import VERSION

FORMAT: Final = "dpor checkpoint"
SCHEMA: Final = 2
EVERY: Final = 3.0
"""Seconds between two checkpoints of a search that goes on."""
SHARE: Final = 0.03
"""The share of the time that may be spent on them. If they take longer, there are fewer."""


@attrs.frozen(kw_only=True)
class Checkpoint:
    """The contents of a checkpoint.

    target, options   as given to the check; options only where they differ from the defaults
    stage             the number of the search that was cut, of those that can be kept (`dpor.app.stages`)
    hash_seed         PYTHONHASHSEED; None if hashes were random
    sources           the source files by path, which is relative to the working folder if they are in it
    facts             what has been learnt about the program (opaque; the system's own), and `locations`, the names of
                      all locations by number
    accesses          what the search has shown of its accesses (`dpor.core.discipline`); None if each is an event
    seconds           how long it took
    besides           executions besides those of the search, and `restarts`, why it began again
    estimate          of how many executions there are in all
    found             what was found before the search began again
    results           what the search has found (`dpor.app.found.Results`)
    tree              what is left of it (`dpor.explorers.saved_tree`)
    """

    target: str
    options: Mapping[str, Any]
    stage: int
    dpor: str = VERSION
    python: str = sys.version.split()[0]
    hash_seed: str | None
    sources: Mapping[str, SourceFile]
    facts: Any
    locations: list[str]
    accesses: Any
    seconds: float
    besides: int
    restarts: list[str]
    estimate: list[float] | None
    found: list[Any]
    results: Mapping[str, Any]
    tree: Mapping[str, Any]

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all. Raises `BadCheckpoint` if it cannot be written."""
        import json

        content = {"format": FORMAT, "schema": SCHEMA, **attrs.asdict(self, recurse=False)}
        content["sources"] = {name: attrs.asdict(source) for name, source in self.sources.items()}
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            try:
                with open(new, "w", encoding="utf-8") as file:
                    file.write(json.dumps(content, separators=(",", ":")) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)
        except OSError as error:
            raise BadCheckpoint(f"{path}: cannot be written: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """Read a file. Raises `BadCheckpoint`, with a message of one line, for anything that is not a checkpoint."""
        import json

        try:
            content = json.loads(Path(path).read_bytes())
        except OSError as error:
            raise BadCheckpoint(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise BadCheckpoint(f"{path}: not a checkpoint: {error}") from error
        if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
            raise BadCheckpoint(f'{path}: not a checkpoint (no "format": "{FORMAT}" in it)')
        schema = content.pop("schema", None)
        if schema != SCHEMA:
            raise BadCheckpoint(f"{path}: a checkpoint of version {schema!r}; this dpor reads version {SCHEMA}")
        with damaged(path):
            content["sources"] = {str(name): SourceFile(**source) for name, source in content["sources"].items()}
            return cls(**content)

    def check(self) -> None:
        """Raise `BadCheckpoint` if something is not as it was when the file was written, and say what has changed."""
        mine = sys.version.split()[0]
        changes = []
        if self.dpor != VERSION:
            changes.append(f"it was written by dpor {self.dpor}, and this is {VERSION}")
        if self.python != mine:
            changes.append(f"it was written with Python {self.python}, and this is {mine}")
        changes += changed_sources(self.sources)
        if changes:
            raise BadCheckpoint(f"the search cannot be resumed: {'; '.join(changes)}. Run dpor check again")


@contextmanager
def damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Context in which an error of reading means that the checkpoint is damaged."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise BadCheckpoint(f"{path}: a damaged checkpoint: {what}") from error


_OF_ONE_CHECK: Final = ("checkpoint", "max_seconds", "max_executions", "workers", "cluster")


def options_to_json(options: Options) -> dict[str, Any]:
    """Return the options that differ from their defaults, as plain values: `Options(**options)` takes them again. Left
    out are those of one check: budgets, workers and the file."""
    values = {}
    for field, _ in options_of(type(options)):
        value = getattr(options, field.name)
        if value != field.default and field.name not in _OF_ONE_CHECK:
            values[field.name] = list(value) if isinstance(value, tuple) else plain(value)
    return values


class Keeper:
    """Writes the checkpoints of a check into one file.

    path      the file
    periodic  True if it is written while the search goes on, too
    written   True if the file is there and is ours
    prepare   makes the folder
    """

    def __init__(
        self, path: Path, periodic: bool, written: bool = False, prepare: Callable[[], object] = lambda: None
    ) -> None:
        self.path = path
        self.written = written
        self._prepare = prepare
        self._next = time.monotonic() + EVERY if periodic else float("inf")

    def is_due(self, now: float) -> bool:
        return now >= self._next

    def keep(self, checkpoint: Callable[[], Checkpoint]) -> None:
        """Write it. Raises `BadCheckpoint` if it cannot be written."""
        begun = time.monotonic()
        self._prepare()
        checkpoint().save(self.path)
        self.written = True
        now = time.monotonic()
        if self._next < float("inf"):
            self._next = now + max(EVERY, (now - begun) / SHARE)

    def forget(self) -> None:
        """Remove the file: nothing is left to go on with."""
        if self.written:
            self.path.unlink(missing_ok=True)
            self.written = False
