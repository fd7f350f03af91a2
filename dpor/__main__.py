"""`python -m dpor` and the `dpor` command: fixes the hash seed, then hands over to the command line.

String hashes decide the order of sets, so two processes agree only with one seed. It can be set only before Python
starts: hence the `exec`, before anything slow is imported.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; never returns."""
    _open_streams()
    signal.signal(signal.SIGINT, _interrupted)
    if os.environ.get("PYTHONHASHSEED", "random") == "random":
        os.environ["PYTHONHASHSEED"] = "0"
        if not sys.flags.ignore_environment:
            _hold_ctrl_c(True)
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    _hold_ctrl_c(False)
    from dpor.cli.guard import guard
    from dpor.cli.main import cli

    try:
        cli(prog_name="dpor", obj=guard)
    except OSError as error:  # --help into a full disk
        os.write(2, f"dpor: standard output cannot be written: {error.strerror}\n".encode())
        os._exit(2)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the answer has been given


def _open_streams() -> None:
    """Open the null device for each standard stream that the shell has closed (`>&-`), lest a file take its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            while (opened := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            os.set_inheritable(opened, True)
            setattr(sys, name, os.fdopen(opened, mode, closefd=False))


def _interrupted(number: int, frame: FrameType | None) -> None:
    os.write(2, b"dpor: interrupted\n")
    os._exit(3)


def _hold_ctrl_c(held: bool) -> None:
    """Block SIGINT until the second start has a handler for it, or unblock it: a signal mask outlives `exec`."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK if held else signal.SIG_UNBLOCK, [signal.SIGINT])


if __name__ == "__main__":
    main()
