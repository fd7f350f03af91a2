"""`python -m tests.golden`: hold what is recorded against `expected.json`; with `--accept`, write the file.

`--only TEXT` takes the lines whose key contains the text.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.golden.jobs import differences, jobs, record

EXPECTED = Path(__file__).with_name("expected.json")
VERSION = "3.11"
"""Of the Python that the file is for: other versions have other methods and compile code otherwise."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="write the file anew")
    parser.add_argument("--only", default="", metavar="TEXT", help="the lines whose key contains the text")
    parser.add_argument("--file", type=Path, default=EXPECTED, help="in place of expected.json")
    given = parser.parse_args(arguments)
    if (version := f"{sys.version_info[0]}.{sys.version_info[1]}") != VERSION:
        print(f"expected.json is for Python {VERSION}, and this is {version}: make install PYTHON=python{VERSION}")
        return 2
    expected: dict[str, str] = json.loads(given.file.read_text()) if given.file.exists() else {}
    found = record([key for key in jobs() if given.only in key])
    lines = differences({key: value for key, value in expected.items() if given.only in key}, found)
    print("\n".join([*lines, f"{len(found):,} lines, {len(lines) // 3:,} of them differ"]))
    if not given.accept:
        return 1 if lines else 0
    kept = {key: value for key, value in expected.items() if given.only not in key}
    given.file.write_text(json.dumps(kept | found, indent=0, sort_keys=True, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
