"""What dpor does not find, by row of the table. None of it is missed in silence: the verdict is inconclusive, for the
reason that the run gives."""

from __future__ import annotations

from typing import Final

_LOCALS: Final = "names in locals that threads share are read and written unseen"
_MATCH: Final = "what a pattern names is read in one step, in CPython each look is a bytecode"

INCONCLUSIVE: dict[str, str] = {
    "Call: exec shared locals": _LOCALS,
    "Call: eval shared locals": _LOCALS,
    "Call: patch in thread": "unittest.mock changes classes and modules unseen",
    "Call: patch dict": "unittest.mock changes dicts unseen",
    "Call: __subclasses__": "to make a class is no operation on its bases",
    "Attribute: __kwdefaults__ item": "calls look into the dict unseen",
    "MatchSequence: nested": _MATCH,
    "MatchSequence: deque": _MATCH,
    "MatchMapping: rest": _MATCH,
    "MatchClass: attributes": _MATCH,
}
