"""Results that follow from a program's source, kept on disk for the next process, as Python keeps `.pyc` files.

An entry is a file in one folder. Its name is a digest of everything that its content follows from: what made it (the
sources of the rewriter, the version of Python) and what that was given (the program's source, the options). So entries
never become out of date: if anything differs, another name is asked for. The content has a digest of its own. An entry
that is torn or damaged, or belongs to another user, is silently made anew: code from another user must not be run. A
file is first written under a temporary name and then renamed, so several processes may write the same entry at once.
"""

from __future__ import annotations

import marshal
import os
import sys
import time
from _thread import get_ident
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import CodeType
from typing import Any, Final, TypeVar

VARIABLE: Final = "DPOR_NO_CACHE"
"""The environment variable that, unless it is empty, has the same effect as `--no-cache`."""
MOST_BYTES: Final = 256 << 20
"""When there is more, the entries that were not used for longest are removed, down to half of this."""
MOST_NEW: Final = 5000
"""New entries of one process: a program may make new source to execute in every run."""
TIDY_EVERY: Final = 3600.0
"""Seconds between examinations of the folder's size."""
_USED_EVERY: Final = 86_400.0
"""Seconds after which it is noted again that an entry is in use."""
_SUFFIX: Final = ".entry"
_TIDIED: Final = "tidied"
_DIGEST_SIZE: Final = sha256().digest_size

Kept = TypeVar("Kept", bound=CodeType | tuple[Any, ...])


class Cache:
    """The entries in a folder; if that is None, nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._left = MOST_NEW

    def get(self, make: Callable[[], Kept], what: str, *given: object) -> Kept:
        """Return what `make` returns, from disk if possible. It must follow from the rewriter and `given` (see
        `cache_key`) alone."""
        if self.folder is None:
            return make()
        key = cache_key(what, _rewriter(), sys.version, sys.implementation.cache_tag, *given)
        path = os.path.join(self.folder, key + _SUFFIX)
        found: Kept | None = _read(path, key)
        if found is None:
            found = make()
            if self._left > 0:
                self._left -= 1
                self._write(path, key, found)
        return found

    def _write(self, path: str, key: str, value: Any) -> None:
        try:
            content = marshal.dumps(value)
        except ValueError:  # nested too deeply
            return
        draft = f"{path}.{os.getpid()}.{get_ident()}"
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(_checksum(key, content) + content)
            os.replace(draft, path)
            self._tidy()
        except OSError:  # no room, or no permission: the next process has to make it again
            self._left = 0
            _remove(draft)

    def _tidy(self) -> None:
        """Now and then: if there is too much, remove the entries that were not used for longest."""
        assert self.folder is not None
        mark = self.folder / _TIDIED
        if mark.exists() and abs(time.time() - mark.stat().st_mtime) < TIDY_EVERY:
            return
        mark.touch(mode=0o600)
        oldest_first = sorted(self._files(), key=lambda file: file[1].st_mtime)
        size = sum(state.st_size for _, state in oldest_first)
        most = MOST_BYTES if size <= MOST_BYTES else MOST_BYTES // 2
        for path, state in oldest_first:
            is_left_over = not path.endswith(_SUFFIX) and time.time() - state.st_mtime > TIDY_EVERY
            if size > most or is_left_over:
                _remove(path)
                size -= state.st_size

    def _files(self) -> Iterable[tuple[str, os.stat_result]]:
        assert self.folder is not None
        for entry in os.scandir(self.folder):
            if _SUFFIX in entry.name:
                try:
                    yield entry.path, entry.stat()
                except FileNotFoundError:  # another process has removed the file
                    pass

    def size(self) -> tuple[int, int]:
        """Return how many entries there are, and their size in bytes."""
        if self.folder is None or not self.folder.is_dir():
            return 0, 0
        sizes = [state.st_size for _, state in self._files()]
        return len(sizes), sum(sizes)


_in_use = Cache(None)


def use(wanted: bool) -> Cache:
    """Use this user's cache from now on; none if it is not wanted, or disabled by the environment. Returns the
    cache."""
    global _in_use
    folder = user_folder() if wanted and not os.environ.get(VARIABLE) else None
    if folder != _in_use.folder:
        _in_use = Cache(folder)
    return _in_use


def cached(make: Callable[[], Kept], what: str, *given: object) -> Kept:
    """Like `Cache.get`, of the cache in use."""
    return _in_use.get(make, what, *given)


def user_folder() -> Path | None:
    """Return `dpor` in the user's folder for caches: `XDG_CACHE_HOME`, or the usual one of the platform. None if there
    is none."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():  # the standard says to ignore relative paths
        return given / "dpor"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "dpor" / "Cache"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "dpor"


def cache_key(*parts: object) -> str:
    """Return a digest of the parts: of texts themselves, of other objects by their `repr`."""
    whole = sha256()
    for part in parts:
        text = (part if isinstance(part, str) else repr(part)).encode("utf-8", "surrogatepass")
        whole.update(b"%s %d:" % (type(part).__name__.encode(), len(text)) + text)
    return whole.hexdigest()


@lru_cache
def source_of(*files: str) -> str:
    """Return a digest of the contents of these files; if they cannot be read, one that no other process has."""
    try:
        return cache_key(*[Path(file).read_bytes() for file in files])
    except OSError:
        return cache_key(os.getpid(), time.time())


@lru_cache(maxsize=1)
def _rewriter() -> str:
    return source_of(*sorted(map(str, Path(__file__).parent.glob("*.py"))))


def _read(path: str, key: str) -> Any:
    """Return the entry; None if there is none, or it is damaged, or it belongs to another user."""
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
                return None
            content = file.read()
        if content[:_DIGEST_SIZE] != _checksum(key, content[_DIGEST_SIZE:]):
            return None
        if time.time() - state.st_mtime > _USED_EVERY:
            os.utime(path)
        return marshal.loads(memoryview(content)[_DIGEST_SIZE:])
    except (OSError, EOFError, ValueError, TypeError):
        return None


def _checksum(key: str, content: bytes) -> bytes:
    return sha256(key.encode() + content).digest()


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
