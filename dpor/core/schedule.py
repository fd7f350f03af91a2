"""Saved schedules: JSON files with the choices of a failing run and all that must be the same for a replay.

A schedule is a list of actions (`dpor.core.operations.Action`), one for each event. It does not say what the events
are. Whether the program still does the same is checked while the schedule is replayed, and before that by the hashes of
the sources.

The file is one object; `FORMAT` and `SCHEMA` come first, which tells files of another format from old ones. For each
source file it holds the SHA-256 of the text, and a checksum of each line, so that a refusal can say which lines
changed.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from dpor.core.errors import BadSchedule, NotDeterministic
from dpor.core.operations import THREAD_MASK, Action
from dpor.core.outcome import Finding, Kind
from dpor.core.system import STOP, Chooser

FORMAT = "dpor schedule"
SCHEMA = 1
OF_PYTEST = "pytest "
"""The beginning of the names of targets that are tests. The test's node id follows; only pytest can run them."""
LARGEST = 100_000_000
"""The largest size of a schedule file, in bytes; real ones are much smaller."""


@attrs.frozen
class SourceFile:
    """A source file when the schedule was saved: the hash of its text, and eight hexadecimal digits for each line."""

    sha256: str = attrs.field(validator=attrs.validators.instance_of(str))
    lines: str = attrs.field(validator=attrs.validators.instance_of(str))

    @classmethod
    def of(cls, text: bytes) -> SourceFile:
        lines = "".join(f"{zlib.crc32(line):08x}" for line in text.splitlines())
        return cls(hashlib.sha256(text).hexdigest(), lines)

    def checksums(self) -> list[str]:
        return [self.lines[i : i + 8] for i in range(0, len(self.lines), 8)]


@attrs.frozen(kw_only=True)
class SavedSchedule:
    """The contents of a schedule file.

    target, name   as given to the check
    settings       the options that change what an event is: strategy, max_steps, timeouts, timeout_limit,
                   max_delay, races, every_access, instrument
    facts          what the search had learnt about the program and relied on (opaque; the system's own)
    hash_seed      PYTHONHASHSEED; None if hashes were random
    python         the version of Python that made it
    sources        the source files by path, which is relative to the working folder if they are in it
    schedule       the actions, minimised
    first_schedule the actions under which the failure was found (empty in old files)
    threads        the threads' names, by number
    finding        the failure that it shows
    """

    target: str
    schedule: tuple[Action, ...]
    finding: Finding
    name: str | None = None
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    facts: Any = None
    hash_seed: str | None = None
    python: str = ""
    sources: Mapping[str, SourceFile] = attrs.field(factory=dict)
    threads: tuple[str, ...] = ()
    first_schedule: tuple[Action, ...] = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file. Raises `BadSchedule` if it cannot be written."""
        finding = {
            "kind": self.finding.kind.value,
            "message": self.finding.message,
            "thread": self.finding.thread,
            "file": self.finding.file,
            "line": self.finding.line,
            "needs_timeout": self.finding.needs_timeout,
            "other": self.finding.other,
        }
        content = {"format": FORMAT, "schema": SCHEMA, **attrs.asdict(self), "finding": finding}
        try:
            Path(path).write_text(to_json_text(content), encoding="utf-8")
        except OSError as error:
            raise BadSchedule(f"{path}: cannot be written: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SavedSchedule:
        """Read a file. Raises `BadSchedule`, with a message of one line, for anything that is not a saved schedule."""
        import json

        try:
            with open(path, "rb") as file:
                text = file.read(LARGEST + 1)
            content = json.loads(text) if len(text) <= LARGEST else None
        except OSError as error:
            raise BadSchedule(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise BadSchedule(f"{path}: not a schedule file: {error}") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise BadSchedule(f'{path}: not a schedule file (no "format": "{FORMAT}" in it)')
        if content.get("schema") != SCHEMA:
            raise BadSchedule(
                f"{path}: a schedule file of version {content.get('schema')!r}; this dpor reads version {SCHEMA}"
            )
        try:
            return cls._from_json(content)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else error
            raise BadSchedule(f"{path}: a damaged schedule file: {what}") from error

    @classmethod
    def _from_json(cls, content: dict[str, Any]) -> SavedSchedule:
        finding = dict(content["finding"])
        schedule, first = tuple(content["schedule"]), tuple(content.get("first_schedule", ()))
        if not all(type(action) is int and action >= 0 for action in schedule + first):
            raise ValueError("the schedule is not a list of numbers")
        seed = content["hash_seed"]
        if seed is not None and not (isinstance(seed, str) and seed.isdecimal() and int(seed) < 1 << 32):
            raise ValueError(f"{seed!r} is no hash seed")
        return cls(
            target=str(content["target"]),
            name=content["name"],
            settings=dict(content["settings"]),
            facts=content["facts"],
            hash_seed=content["hash_seed"],
            python=str(content["python"]),
            sources={str(path): SourceFile(**source) for path, source in content["sources"].items()},
            schedule=schedule,
            first_schedule=first,
            threads=tuple(str(name) for name in content["threads"]),
            finding=Finding(
                Kind(finding["kind"]),
                str(finding["message"]),
                str(finding["thread"]),
                finding["file"],
                finding["line"],
                bool(finding["needs_timeout"]),
                other=finding.get("other"),
            ),
        )

    def check_python(self) -> None:
        """Raise `BadSchedule` if another version of Python made the schedule: its library may do other things."""
        mine, its = sys.version.split()[0], self.python
        if its.split(".")[:2] != mine.split(".")[:2]:
            raise BadSchedule(
                f"the schedule was made with Python {its}, and this is {mine}: replay it with that, or run dpor check"
                " again for a new schedule"
            )

    def check_sources(self) -> None:
        """Raise `BadSchedule` if a source has changed, and say what changed."""
        changes = changed_sources(self.sources)
        if changes:
            raise BadSchedule(
                "the source is not the one that this schedule was made for: " + "; ".join(changes) + ". Run dpor check"
                " again for a new schedule"
            )


def changed_sources(sources: Mapping[str, SourceFile]) -> list[str]:
    """Say of each of these source files that has changed what has."""
    changes = []
    for path, source in sources.items():
        try:
            text = Path(path).read_bytes()
        except OSError:
            changes.append(f"{path} is not there (paths are relative to the folder where dpor ran)")
            continue
        if hashlib.sha256(text).hexdigest() != source.sha256:
            changes.append(f"{path} has changed: {changed_lines(source, SourceFile.of(text))}")
    return changes


def changed_lines(old: SourceFile, new: SourceFile) -> str:
    r"""Say in words which lines differ. They are given by their present numbers.

    >>> changed_lines(SourceFile.of(b"a\nb\nc"), SourceFile.of(b"a\nB\nc"))
    'line 2'
    >>> changed_lines(SourceFile.of(b"a\nb\nc"), SourceFile.of(b"a\nc\nd\ne"))
    '1 line removed after line 1, lines 3-4 new'
    """
    from difflib import SequenceMatcher

    if not old.lines:
        return "it is not the text that was checked"
    parts = []
    matcher = SequenceMatcher(None, old.checksums(), new.checksums(), autojunk=False)
    for change, i1, i2, j1, j2 in matcher.get_opcodes():
        where = f"line {j1 + 1}" if j2 == j1 + 1 else f"lines {j1 + 1}-{j2}"
        if change == "replace":
            parts.append(where)
        elif change == "insert":
            parts.append(f"{where} new")
        elif change == "delete":
            parts.append(f"{i2 - i1} line{'s' if i2 - i1 > 1 else ''} removed after line {j1}")
    shown = ", ".join(parts[:6])
    return (shown + (f" and {len(parts) - 6} more places" if len(parts) > 6 else "")) or "line ends only"


def read_sources(hashes: Mapping[str, str]) -> dict[str, SourceFile]:
    """Return the sources as stored in a schedule file.

    hashes   by path: the SHA-256 of what was run

    A file that was edited during the check gets no line checksums; a replay will refuse it.
    """
    found = {}
    for path, sha256 in sorted(hashes.items()):
        try:
            source = SourceFile.of(Path(path).read_bytes())
        except OSError:
            source = SourceFile(sha256, "")
        found[relative(path)] = source if source.sha256 == sha256 else SourceFile(sha256, "")
    return found


def to_json_text(content: object) -> str:
    """Return JSON that a person can read: indented, lists of numbers on one line.

    >>> print(to_json_text({"schedule": [0, 1, 1]}), end="")
    {
     "schedule": [0, 1, 1]
    }
    """
    import json
    import re

    text = json.dumps(content, indent=1)
    # Newlines never stand inside a JSON string, so this cannot touch one.
    numbers = re.compile(r"\[\n\s*\d+(?:,\n\s*\d+)*\n\s*\]")
    return numbers.sub(lambda found: f"[{', '.join(re.findall(r'[0-9]+', found[0]))}]", text) + "\n"


def relative(path: str) -> str:
    """Return the path relative to the working folder if it is in it, else as it is."""
    here = os.getcwd()
    return os.path.relpath(path, here) if os.path.abspath(path).startswith(here + os.sep) else path


def follow(schedule: Sequence[Action]) -> Chooser:
    """Return a chooser that takes exactly these actions, then stops. It raises `NotDeterministic` if one cannot be
    taken."""
    position = 0

    def choose(enabled: int) -> Action:
        nonlocal position
        if position == len(schedule):
            return STOP
        action = schedule[position]
        if not enabled >> (action & THREAD_MASK) & 1:
            raise NotDeterministic(
                f"event {position + 1}: the schedule runs thread {action & THREAD_MASK}, which cannot run here"
                f" (those that can: {_threads(enabled)})"
            )
        position += 1
        return action

    return choose


def prefer(guide: Iterable[Action]) -> Chooser:
    """Return a chooser that follows the guide where it can: it takes the first action left whose thread can run. After
    the guide it stays with the thread that ran last, or else takes the lowest."""
    left = list(guide)
    start = 0
    last = STOP

    def choose(enabled: int) -> Action:
        nonlocal start, last
        for position in range(start, len(left)):
            action = left[position]
            if action >= 0 and enabled >> (action & THREAD_MASK) & 1:
                left[position] = STOP
                if position == start:
                    start += 1
                last = action & THREAD_MASK
                return action
        if last < 0 or not enabled >> last & 1:
            last = (enabled & -enabled).bit_length() - 1
        return last

    return choose


def _threads(mask: int) -> str:
    return ", ".join(str(i) for i in range(mask.bit_length()) if mask >> i & 1)


def hash_seed() -> str | None:
    """Return the seed of this process's string hashes; None if it is random."""
    if not sys.flags.hash_randomization:
        return "0"
    seed = os.environ.get("PYTHONHASHSEED", "random")
    return None if seed == "random" or sys.flags.ignore_environment else seed
