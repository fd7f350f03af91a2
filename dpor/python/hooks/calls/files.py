"""Files: what functions that are given paths read and write, and the files that `open` returns.

Each path has a location, named by its real path (links are followed). Who looks at a path reads its location and those
of all folders on the way to it; who makes or removes something there also changes what its folder lists. What is done
through descriptors, to whole trees, or with links writes the file system as a whole, which everybody else reads.

Files are not restored before each run. What lies in the folder for temporary files is removed after each run, and names
there are the same in every run; all other files are up to the program (see `left_files`).
"""

from __future__ import annotations

import atexit
import io
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from dpor.core.operations import READ, UPDATE, WRITE, Mode
from dpor.python.effects import left_files, process_state
from dpor.python.effects.process_state import PROCESS, part
from dpor.python.hooks.calls.process import FOLDER, UMASK, Effect, Effects, does, in_process, yield_before_effects
from dpor.python.hooks.calls.registry import set_wrapper, wrap
from dpor.python.kernel import assumptions, opaque_code
from dpor.python.kernel.run import run
from dpor.python.sharing import host_fields

FILES: Final = "the file system"
WHOLE: Final = (FILES, "whole")
_ORDERED: Final = (PROCESS, "the order of folders")
"""The fact that the program depends on the order in which a folder lists its entries."""

# ---------------------------------------------------------------------- what is done to a path


def _real(path: Any) -> str | None:
    """Return the path with all links followed; None for a descriptor."""
    if type(path) is int or path is None:
        return None
    try:
        return os.path.realpath(os.fsdecode(path))
    except (TypeError, ValueError, OSError):
        return None


def _way_to(path: Any) -> Iterator[Effect]:
    """Yield the effects that all functions on a path have."""
    yield WHOLE, READ
    if type(path) is not int and not os.path.isabs(path):
        yield FOLDER, READ


def looks_at_path(path: Any) -> Iterator[Effect]:
    """Yield the effects of a function that looks at the path: it reads the path and all folders above."""
    real = _real(path)
    if real is None:
        yield WHOLE, READ if path is None else WRITE
        return
    left_files.visit(real, to_change=False)
    yield from _way_to(path)
    while True:
        yield (FILES, real), READ
        above = os.path.dirname(real)
        if above == real:
            return
        real = above


def changes_contents(path: Any) -> Iterator[Effect]:
    """Yield the effects of a function that changes the file at the path: its contents, its owner, its times."""
    real = _real(path)
    if real is None or _has_other_names(real):
        yield WHOLE, WRITE
        return
    left_files.visit(real, to_change=True)
    yield from looks_at_path(path)
    yield (FILES, real), WRITE


def makes_entry(path: Any) -> Iterator[Effect]:
    """Yield the effects of making or removing something at the path. If it is a link, the link itself is removed."""
    yield UMASK, READ
    real = _real(path)
    if real is None or os.path.islink(path):
        yield WHOLE, WRITE
        return
    left_files.visit(real, to_change=True)
    yield from looks_at_path(path)
    yield from _changes_entry(real)


def _changes_entry(real: str) -> Iterator[Effect]:
    folder = os.path.dirname(real)
    yield (FILES, real), WRITE
    yield (FILES, folder, "entries"), UPDATE
    if _ORDERED in run.facts:
        yield (FILES, folder, "order"), WRITE


def _has_other_names(real: str) -> bool:
    try:
        status = os.stat(real)
    except OSError:
        return False
    return status.st_nlink > 1 and not os.path.isdir(real)


def lists_folder(path: Any, *, in_order: bool) -> Iterator[Effect]:
    """Yield the effects of a function that lists the entries of a folder. `in_order`: in an order of its own, which
    does not depend on the order in which they were made."""
    real = _real("." if path is None else path)
    if real is None:
        yield WHOLE, WRITE
        return
    yield from looks_at_path("." if path is None else path)
    yield (FILES, real, "entries"), READ
    if not in_order:
        if run.multi:
            assumptions.used_by_several(_ORDERED, "the order of what a folder lists")
        yield (FILES, real, "order"), READ


def removes_folder(path: Any) -> Iterator[Effect]:
    """Yield the effects of a function that removes a folder, which must be empty."""
    yield from makes_entry(path)
    real = _real(path)
    if real is not None:
        yield (FILES, real, "entries"), READ


def moves_entry(path: Any, to: Any) -> Iterator[Effect]:
    """Yield the effects of a function that moves a file to another path, where it may replace one."""
    real, target = _real(path), _real(to)
    if real is None or target is None or os.path.isdir(real) or os.path.islink(path) or os.path.islink(to):
        yield WHOLE, WRITE
        return
    yield from makes_entry(path)
    yield from makes_entry(to)


def opens_file(path: Any, mode: str) -> Iterator[Effect]:
    """Yield the effects of a function that opens the file at the path in this mode of `open`."""
    if set(mode).isdisjoint("wax+"):
        yield from looks_at_path(path)
    elif os.path.exists(path) if type(path) is not int else True:
        yield from changes_contents(path)
    else:
        yield from makes_entry(path)


# ---------------------------------------------------------------------- which functions do it


def _first(effects: Callable[[Any], Iterable[Effect]], *names: str) -> Effects:
    """Effects of functions whose first argument is the path."""

    def of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
        if kwargs.keys() & _RELATIVE and any(kwargs[name] is not None for name in kwargs.keys() & _RELATIVE):
            return [(WHOLE, WRITE)]
        return effects(args[0] if args else kwargs.get("path"))

    return of


_RELATIVE: Final = frozenset({"dir_fd", "src_dir_fd", "dst_dir_fd"})


def _all_on(names: str, effects: Callable[[Any], Iterable[Effect]]) -> None:
    does(*names.split())(_first(effects))


_all_on(
    "os.stat os.lstat os.access os.readlink os.getxattr os.listxattr os.statvfs os.pathconf genericpath.exists"
    " genericpath.lexists genericpath.isfile genericpath.isdir genericpath.islink genericpath.getsize"
    " genericpath.getmtime genericpath.getatime genericpath.getctime posixpath.exists posixpath.lexists"
    " posixpath.islink posixpath.isfile posixpath.isdir posixpath.ismount posixpath.realpath"
    " os._path_exists os._path_isfile os._path_isdir os._path_islink os._path_lexists"
    " pathlib.Path.exists"
    " pathlib.Path.is_file pathlib.Path.is_dir pathlib.Path.is_symlink pathlib.Path.stat pathlib.Path.lstat"
    " pathlib.Path.is_mount pathlib.Path.is_socket pathlib.Path.is_fifo pathlib.Path.is_block_device"
    " pathlib.Path.is_char_device pathlib.Path.owner pathlib.Path.group pathlib.Path.readlink pathlib.Path.resolve",
    looks_at_path,
)
_all_on(
    "os.truncate os.chmod os.lchmod os.chown os.lchown os.utime os.setxattr os.removexattr os.chflags"
    " pathlib.Path.chmod pathlib.Path.lchmod",
    changes_contents,
)
_all_on(
    "os.mkdir os.remove os.unlink os.mknod os.mkfifo pathlib.Path.unlink pathlib.Path.touch",
    makes_entry,
)
_all_on("os.rmdir pathlib.Path.rmdir", removes_folder)
_all_on("os.listdir", lambda path: lists_folder(path, in_order=True))
_all_on("os.scandir", lambda path: lists_folder(path, in_order=False))
_all_on(
    "os.link os.symlink os.close os.closerange os.copy_file_range os.dup os.dup2 os.fchmod os.fchown os.fdatasync"
    " os.fdopen os.fpathconf os.fstat os.fstatvfs os.fsync os.ftruncate os.lockf os.lseek os.posix_fadvise"
    " os.posix_fallocate os.pread os.preadv os.pwrite os.pwritev os.read os.readinto os.readv os.sendfile"
    " os.set_blocking os.sync os.write os.writev os.chroot pathlib.Path.symlink_to pathlib.Path.hardlink_to"
    " os.system os.popen subprocess.run subprocess.call subprocess.check_call subprocess.check_output"
    " subprocess.getoutput subprocess.getstatusoutput",
    lambda path: [(WHOLE, WRITE)],
)


@does("os.rename", "os.replace", "pathlib.Path.rename", "pathlib.Path.replace")
def _rename(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    if len(args) < 2 or kwargs:
        return [(WHOLE, WRITE)]
    return moves_entry(*args[:2])


@does("genericpath.samefile", "pathlib.Path.samefile")
def _samefile(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    return [effect for path in args for effect in looks_at_path(path)]


@does("os.open")
def _os_open(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    flags = args[1] if len(args) > 1 else kwargs.get("flags", 0)
    if kwargs.get("dir_fd") is not None or type(flags) is not int or not args:
        return [(WHOLE, WRITE)]
    changing = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    return opens_file(args[0], "w" if changing else "r")


@does("pathlib.Path.mkdir")
def _path_mkdir(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    parents = args[2] if len(args) > 2 else kwargs.get("parents", False)
    if parents and not args[0].parent.exists():
        if run.multi:
            opaque_code.opaque("pathlib.Path.mkdir")
        return [(WHOLE, WRITE)]
    return makes_entry(args[0])


def _in_steps(names: str, mode: Mode) -> None:
    """Register Python functions that do several of these things one after the other: they are seen as one step."""
    for name in names.split():

        def effects(args: tuple[Any, ...], kwargs: Mapping[str, Any], name: str = name) -> Iterable[Effect]:
            if run.multi and (mode is WRITE or (PROCESS, FILES) in run.facts):
                opaque_code.opaque(name)
            return [(WHOLE, mode)]

        does(name)(effects)


_in_steps(
    "glob.glob glob.iglob pathlib.Path.iterdir pathlib.Path.glob pathlib.Path.rglob pathlib.Path.walk shutil.disk_usage"
    " filecmp.cmp filecmp.cmpfiles linecache.getline linecache.getlines linecache.checkcache os.fwalk",
    READ,
)
_in_steps(
    "shutil.copyfile shutil.copymode shutil.copystat shutil.copy shutil.copy2 shutil.copytree shutil.rmtree shutil.move"
    " shutil.chown shutil.make_archive shutil.unpack_archive pathlib.Path.copy pathlib.Path.move"
    " codecs.open fileinput.input",
    WRITE,
)


def _sorted_listdir(*args: Any, **kwargs: Any) -> Any:
    """Like `os.listdir`, but in the same order on all machines."""
    return sorted(os.listdir(*args, **kwargs))


in_process(os.listdir, "os", _sorted_listdir)

# ---------------------------------------------------------------------- open files


POSITIONS: Final = "the positions in files"


class _File:
    """Base of the files that `open` returns: each of their methods is an operation.

    Data reach the file when it is flushed, or when they exceed the buffer.

    dpor_room     how many characters or bytes can still be written before it is flushed
    dpor_inside   True while one of its methods runs, which may call others
    """

    dpor_path: Any = None
    dpor_piece: tuple[str, ...] = (POSITIONS,)
    dpor_room = 0
    dpor_inside = True

    def dpor_begin(self, path: Any, room: int) -> Any:
        self.dpor_path, self.dpor_room, self.dpor_inside = path, room, False
        self.dpor_piece = (POSITIONS, *map(str, run.current.name_object()))
        return self

    def dpor_run(self, name: str, base: type, args: tuple[Any, ...], *, changes: bool) -> Any:
        if self.dpor_inside:
            return getattr(base, name)(self, *args)
        if run.multi:
            effects = changes_contents if changes else looks_at_path
            yield_before_effects(name.strip("_"), lambda: [*effects(self.dpor_path), (self.dpor_piece, WRITE)], args)
        elif changes:
            process_state.before_change(FILES)
        self.dpor_inside = True
        try:
            return getattr(base, name)(self, *args)
        finally:
            self.dpor_inside = False


def _reading(name: str, base: type) -> Any:
    def read(self: Any, *args: Any) -> Any:
        return self.dpor_run(name, base, args, changes=False)

    return read


def _writing(name: str, base: Any) -> Any:
    def write(self: Any, data: Any) -> Any:
        if self.dpor_inside:
            return getattr(base, name)(self, data)
        if name == "writelines":
            data = list(data)
        self.dpor_room -= sum(map(len, data)) if name == "writelines" else len(data)
        return self.dpor_run(name, base, (data,), changes=self.dpor_room < 0)

    return write


def _ending(name: str, base: Any) -> Any:
    def end(self: Any, *args: Any) -> Any:
        if self.closed:
            return getattr(base, name)(self, *args)
        return self.dpor_run(name, base, args, changes=self.writable())

    return end


_METHODS: Final = {
    **dict.fromkeys(("read", "read1", "readall", "readinto", "readinto1", "peek"), _reading),
    **dict.fromkeys(("readline", "readlines", "__next__"), _reading),
    **dict.fromkeys(("write", "writelines"), _writing),
    **dict.fromkeys(("flush", "close", "truncate", "seek", "__exit__"), _ending),
}


def _kind(base: type) -> Any:
    methods = {name: make(name, base) for name, make in _METHODS.items() if hasattr(base, name)}
    return type(base.__name__, (_File, base), {"__module__": __name__, **methods})


_KINDS: Final = {
    base: _kind(base) for base in (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.FileIO)
}


@wrap(open, io.open)
def _open(
    file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None,
    closefd: bool = True, opener: Any = None,
) -> Any:  # fmt: skip
    if run.current is None or opener is not None or not isinstance(mode, str):
        return open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    yield_before_effects("open", lambda: opens_file(file, mode))
    made: Any = open(file, mode, buffering, encoding, errors, newline, closefd)  # noqa: SIM115
    path = file if type(file) is int else os.path.abspath(os.fsdecode(file))
    room = 0 if buffering == 0 or (buffering == 1 and "b" not in mode) else io.DEFAULT_BUFFER_SIZE // 4
    if type(made) is io.TextIOWrapper:
        how = made.encoding, made.errors, newline, made.line_buffering
        inner = made.detach()
        made = _KINDS[io.TextIOWrapper](inner, *how).dpor_begin(path, room)
        made.mode = mode
    elif type(made) is io.FileIO:
        made.close()
        made = _KINDS[io.FileIO](file, made.mode if "a" in mode else "rb+" if made.writable() else "rb").dpor_begin(
            path, 0
        )
    elif type(made) in _KINDS:
        kind = _KINDS[type(made)]
        made = kind(made.detach(), *([buffering] if buffering > 1 else [])).dpor_begin(path, room)
    return made


@wrap(pathlib.Path.open)
def _path_open(
    self: pathlib.Path, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None,
    newline: Any = None,
) -> Any:  # fmt: skip
    return _open(self, mode, buffering, encoding, errors, newline)


@wrap(pathlib.Path.read_text)
def _read_text(self: pathlib.Path, encoding: Any = None, errors: Any = None, newline: Any = None) -> Any:
    with _open(self, "r", -1, encoding, errors, newline) as file:
        return file.read()


@wrap(pathlib.Path.read_bytes)
def _read_bytes(self: pathlib.Path) -> Any:
    with _open(self, "rb") as file:
        return file.read()


@wrap(pathlib.Path.write_text)
def _write_text(self: pathlib.Path, data: str, encoding: Any = None, errors: Any = None, newline: Any = None) -> int:
    if not isinstance(data, str):
        raise TypeError(f"data must be str, not {type(data).__name__}")
    with _open(self, "w", -1, encoding, errors, newline) as file:
        return int(file.write(data))


@wrap(pathlib.Path.write_bytes)
def _write_bytes(self: pathlib.Path, data: Any) -> int:
    view = memoryview(data)
    with _open(self, "wb") as file:
        return int(file.write(view))


# ---------------------------------------------------------------------- the folder for temporary files


class _Temporary:
    """A folder of this process for temporary files; it is empty when a run begins."""

    def __init__(self) -> None:
        self.folder = ""

    def get(self) -> Any:
        """Return the present settings of `tempfile`, and let it use our folder from now on."""
        before = host_fields.is_changed(tempfile, "tempdir"), tempfile.tempdir, vars(tempfile)["_name_sequence"]
        if not self.folder:
            self.folder = os.path.realpath(tempfile.mkdtemp(prefix="dpor-"))
            atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        if not before[0]:
            tempfile.tempdir = self.folder
        vars(tempfile)["_name_sequence"] = _names()
        return before

    def restore(self, before: Any) -> None:
        is_set, folder, vars(tempfile)["_name_sequence"] = before
        if not is_set:  # else the program has set it, and it was restored like other attributes
            tempfile.tempdir = folder
        for entry in list(os.scandir(self.folder)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def _names() -> Iterator[str]:
    """Yield names that depend only on the asking thread, and on how many it has asked for before."""
    while True:
        thread = run.current
        number = 0 if thread is None else thread.id
        asked = thread.data.get("temporary files", 0) + 1
        thread.data["temporary files"] = asked
        yield f"{number}_{asked}"


TEMPORARY: Final = "the folder for temporary files"
part(TEMPORARY, (_temporary := _Temporary()).get, _temporary.restore)


def _in_folder(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Effect]:
    """Yield the effects of making something in the folder, under a name that is new."""
    process_state.before_change(TEMPORARY)
    yield from looks_at_folder(args, kwargs)
    folder = os.path.realpath(os.fsdecode(kwargs.get("dir") or tempfile.gettempdir()))
    yield from looks_at_path(folder)
    yield (FILES, folder, "entries"), UPDATE
    if _ORDERED in run.facts:
        yield (FILES, folder, "order"), WRITE


def looks_at_folder(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterable[Effect]:
    """Return the effect of calls that ask in which folder temporary files are."""
    process_state.before_change(TEMPORARY)
    return [(("global", "tempfile", "tempdir"), READ)]


does("tempfile.mkdtemp", "tempfile.mkstemp", "tempfile.NamedTemporaryFile", "tempfile.TemporaryFile")(_in_folder)
does("tempfile.gettempdir", "tempfile.gettempdirb", "tempfile.mktemp")(looks_at_folder)


class _TemporaryDirectory(tempfile.TemporaryDirectory):  # type: ignore[type-arg]
    """Its creation and its removal are operations."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        yield_before_effects("TemporaryDirectory", lambda: _in_folder(args, kwargs))
        super().__init__(*args, **kwargs)

    def cleanup(self) -> None:
        yield_before_effects("cleanup", [(WHOLE, WRITE)])
        super().cleanup()


_TemporaryDirectory.__name__ = _TemporaryDirectory.__qualname__ = "TemporaryDirectory"
set_wrapper(tempfile.TemporaryDirectory, _TemporaryDirectory)
