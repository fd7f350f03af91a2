"""What the commands share: exit codes, errors as one line, writing to standard output and to files."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click

from dpor.core.errors import DporError, NotDeterministic, UserError
from dpor.report.text import plain_text

if TYPE_CHECKING:
    from rich.console import Console

KEEP = Path(".dpor")
"""The folder for schedules unless the user names a file; its own .gitignore keeps it out of version control."""


class Exit(IntEnum):
    """The exit codes of the process."""

    PASS = 0
    FINDING = 1
    USAGE = 2
    INCONCLUSIVE = 3
    OUR_ERROR = 4


EXIT_CODES = """\b
Exit codes:
  0  passed: every interleaving was covered and none fails
  1  a failure was found
  2  wrong usage, or a target that cannot be loaded
  3  inconclusive: no failure found, but not everything was covered
  4  an error of dpor itself"""


# ---------------------------------------------------------------------- options of several commands

C = TypeVar("C", bound=Callable[..., Any])

traceback_option: Final = click.option(
    "--traceback", is_flag=True, help="Show the traceback of an error of dpor itself."
)


def verdict_options(command: C) -> C:
    """Add to a command that ends with a verdict what is shown and kept of it."""
    save = click.option(
        "--save",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="File for the schedule of the failure (of the second: FILE-2, ...). [default: in .dpor/]",
    )
    quiet = click.option(
        "-q", "--quiet", is_flag=True, help="Show only the verdict and one line for each failure; no progress."
    )
    verbose = click.option("-v", "--verbose", is_flag=True, help="Show all counts, and every step of a failure.")
    return save(quiet(verbose(traceback_option(command))))


# ---------------------------------------------------------------------- writing


def to_stdout(write: Callable[[], None]) -> None:
    """Call `write`. If the reader has closed the pipe, or the disk is full, go on: the exit code still tells the
    verdict."""
    try:
        write()
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            click.echo(f"dpor: standard output cannot be written: {error.strerror or error}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def draw(draw: Callable[[Console], None]) -> None:
    """Print what the function draws: in colours on a terminal, otherwise as plain text."""
    if sys.stdout.isatty():
        from rich.console import Console

        draw(Console())
    else:
        click.echo(plain_text(draw), nl=False)


def keep_folder() -> bool:
    """Make the folder of kept failures. Returns False if that cannot be."""
    try:
        KEEP.mkdir(exist_ok=True)
        (KEEP / ".gitignore").write_text("*\n")
    except OSError:
        return False  # the folder cannot be written; the failure is shown anyway
    return True


def strategies_named(names: str | None, further: Collection[str] = ()) -> list[str]:
    """Parse the value of an option `--strategies a,b,c`; None: all strategies that see every outcome. Raises
    `UserError`.

    `further`: what may be named, too, such as strategies that only sample schedules.
    """
    from dpor.explorers import CAUSAL, STATEFUL, STATELESS

    known = [*STATELESS, *STATEFUL]
    if names is None:
        return known
    known += (*CAUSAL, *further)
    chosen = names.split(",")
    for name in chosen:
        if name not in known:
            raise UserError(f"no strategy {name!r}; there are {', '.join(known)}")
    if len({*chosen}) < len(chosen):
        raise UserError(f"--strategies takes different names with commas between them, not {names}")
    return chosen


def check_outputs(streams: Collection[str] = (), **files: str | None) -> None:
    """Before the work is done: raise `UserError` if an output cannot be written.

    streams   the options for which - means standard output
    files     the output files, by the options that name them
    """
    taken: dict[Path, str] = {}
    for option, path in files.items():
        if path is None or (path == "-" and option in streams):
            continue
        if path in ("", "-"):
            raise UserError(f"--{option} {shlex.quote(path)}: a file is needed here")
        file = Path(path).resolve()
        if not file.parent.is_dir():
            raise UserError(f"{path}: there is no folder {file.parent}")
        if file in taken:
            raise UserError(f"--{taken[file]} and --{option} name the same file, {path}: give each its own")
        if not file.exists() or file.is_file():
            taken[file] = option


def write_file(path: str, text: str) -> None:
    """Write the file. If that fails, say so and go on: results must not get lost."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        click.echo(f"dpor: {path}: cannot be written: {error.strerror or error}", err=True)


def same_hashes(seed: str | None) -> None:
    """Start the process again with the hash seed of the schedule, if it has another."""
    from dpor.core.schedule import hash_seed

    if seed is not None and seed != hash_seed() and not sys.flags.ignore_environment:
        os.environ["PYTHONHASHSEED"] = seed
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


# ---------------------------------------------------------------------- errors


class OneLineErrors(click.Group):
    """Reports wrong usage in one line, like all other mistakes of users."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "dpor"
        end_process(f"dpor: {error.format_message().rstrip('.')}; see {command} --help", Exit.USAGE)


@contextmanager
def our_errors(traceback: bool) -> Iterator[None]:
    """Turn a user's error into one line, and an error of ours into one line and a file."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            yield
        finally:  # from here on, Ctrl-C must not change the answer
            signal.signal(signal.SIGINT, signal.SIG_IGN if is_our_process() else before)
    except NotDeterministic as error:
        end_process(f"dpor: not deterministic: {error}", Exit.INCONCLUSIVE)
    except UserError as error:
        end_process(f"dpor: {error}", Exit.USAGE)
    except KeyboardInterrupt:
        end_process("dpor: interrupted", Exit.INCONCLUSIVE)
    except Exception as error:
        end_process(_our_fault(error, traceback), Exit.OUR_ERROR)


def is_our_process() -> bool:
    """True if this is the process of the `dpor` command; False if somebody calls the command in a process of their
    own."""
    return click.get_current_context().find_root().obj is not None


def _our_fault(error: Exception, traceback: bool) -> str:
    from traceback import format_exception

    text = "".join(format_exception(error))
    name = "" if isinstance(error, DporError) else f"{type(error).__name__}: "
    line = f"dpor: an error of dpor itself, please report it: {name}{error}".rstrip()
    file = KEEP / "internal-error.txt"
    if not traceback and keep_folder():
        file.write_text(text, encoding="utf-8")
        return f"{line}\n  traceback in {file} (or with --traceback)"
    return f"{line}\n{text}"


def end_process(message: str, code: Exit) -> NoReturn:
    """Print the message to standard error and end the process with this exit code."""
    click.echo(message, err=True)
    sys.exit(code)
