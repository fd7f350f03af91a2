"""A program as it travels to another machine: the sources of its modules, and a digest of each package that it uses.

There it is run in the folders where it was, if these have the same files, else in copies of them below a temporary
folder, with the same working folder. A machine is refused if Python, dpor, greenlet or a package differs.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from dpor.core.errors import UserError
from dpor.core.home import HOME
from dpor.core.schedule import hash_seed
from dpor.core.version import VERSION

if TYPE_CHECKING:
    from dpor.findings.explain import Checkable

_INSTALLED: Final = {"site-packages", "dist-packages"}
_EVERYWHERE: Final = (os.path.join(HOME, ""), os.path.join(os.path.dirname(os.__file__), ""))
"""The folders of dpor and of the standard library."""


@attrs.frozen
class ShippedProgram:
    """A program as sent to another machine.

    folder     the working folder
    path       the folders from which it imports `files`
    files      the contents of its files, by absolute path
    marks      what shows where its project begins, by absolute path
    hash_seed  PYTHONHASHSEED
    packages   versions and digests, by name
    """

    folder: str
    path: tuple[str, ...]
    files: Mapping[str, bytes]
    marks: tuple[str, ...]
    hash_seed: str | None
    packages: Mapping[str, str]


def packed(system: Checkable) -> ShippedProgram:
    """Return the program of a system. With each file go the Python files beside it, which it may import later."""
    from dpor.python.program.border import ROOT_MARKS  # takes long, and the other machine has no use for it

    imported = system.imported()
    named = {os.path.abspath(path) for path in (*system.sources(), *imported.values())}
    own = {path for path in named if not _is_installed(path) and not path.startswith(_EVERYWHERE)}
    beside = {str(file) for path in own if path.endswith(".py") for file in _beside(Path(path))}
    folders = {str(folder) for path in own for folder in Path(path).parents}
    tops = {name.partition(".")[0] for name, path in imported.items() if _is_installed(path)}
    packages = metadata.packages_distributions() if tops else {}
    return ShippedProgram(
        folder=os.getcwd(),
        path=tuple([entry for entry in map(os.path.abspath, sys.path) if entry in folders]),
        files={path: text for path in sorted(own | beside) if (text := _content(path)) is not None},
        marks=tuple([mark for folder in folders for name in ROOT_MARKS if os.path.exists(mark := f"{folder}/{name}")]),
        hash_seed=hash_seed(),
        packages=versions({name for top in tops for name in packages.get(top, ())}),
    )


def _is_installed(path: str) -> bool:
    return not _INSTALLED.isdisjoint(Path(path).parts)


def _beside(file: Path) -> Iterable[Path]:
    is_package = (file.parent / "__init__.py").exists()
    return (file.parent.rglob if is_package else file.parent.glob)("*.py")


# ---------------------------------------------------------------------- versions


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions here of Python, of dpor, and of these packages."""
    found = {
        "Python": f"{sys.implementation.name} {sys.version.split()[0]}",
        "dpor": f"{VERSION} ({_digest_of_dpor()})",
    }
    return found | {name: _version(name) for name in sorted({"greenlet", *packages})}


def differing(packages: Mapping[str, str]) -> list[str]:
    """Return, in words, which of these versions are others here."""
    here = versions(packages.keys() - {"Python", "dpor"})
    return [
        f"{name} is {here[name]} there, and {packages[name]} here" for name in packages if here[name] != packages[name]
    ]


def _version(name: str) -> str:
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return "not installed"
    lines = sorted(line for line in (package.read_text("RECORD") or "").splitlines() if ".py," in line)
    return f"{package.version} ({_short(lines)})"


@lru_cache(maxsize=1)
def _digest_of_dpor() -> str:
    """Return a digest of our own sources: two checkouts may have the same version."""
    files = sorted(
        os.path.join(folder, file)
        for folder, _, files in os.walk(HOME, followlinks=True)
        for file in files
        if file.endswith(".py")
    )
    return _short(path[len(HOME) :] + sha256(Path(path).read_bytes()).hexdigest() for path in files)


def _short(lines: Iterable[str]) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()[:8]


# ---------------------------------------------------------------------- on the other machine


class Refused(UserError):
    """This machine has other versions."""


class Placed:
    """A program on this machine. `root`: the folder below which its folders are; empty: they are where they were."""

    def __init__(self, program: ShippedProgram) -> None:
        others = differing(program.packages)
        if others:
            raise Refused("; ".join(others))
        self.program, self.root = program, ""
        if not os.path.isdir(program.folder) or any(_content(path) != text for path, text in program.files.items()):
            self.root = os.path.realpath(tempfile.mkdtemp(prefix="dpor-"))
            weakref.finalize(self, shutil.rmtree, self.root, ignore_errors=True)
            os.makedirs(self.root + program.folder)
            for path, text in (dict.fromkeys(program.marks, b"") | dict(program.files)).items():
                os.makedirs(os.path.dirname(self.root + path), exist_ok=True)
                Path(self.root + path).write_bytes(text)


def _content(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
