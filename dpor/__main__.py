"""`python -m dpor` and the `dpor` command: fixes the hash seed, then hands over to the command line.

String hashes decide the order of sets, so two processes agree only with one seed. It can be set only before Python
starts: hence the `exec`, before anything slow is imported.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; never returns."""
    if os.environ.get("PYTHONHASHSEED", "random") == "random":
        os.environ["PYTHONHASHSEED"] = "0"
        if not sys.flags.ignore_environment:
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    from dpor.cli import cli

    cli(prog_name="dpor")


if __name__ == "__main__":
    main()
