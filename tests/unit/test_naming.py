"""What states name has the same number in every process, and no two things have one."""

from __future__ import annotations

import subprocess
import sys

from dpor.core.operations import Mode, OperationTable
from dpor.primitives.locks import Acquire, AcquireAgain
from dpor.python.states.naming import Naming, text_of

CODE = """
from dpor.python.states.naming import Naming, text_of
code = compile("def f(x):\\n    return x in {'a', 'b', 'c'} or (lambda: -0.0)()", "f.py", "exec")
print(Naming().number(code, text_of))
"""


def test_a_number_is_the_same_in_every_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_different_things_have_different_numbers() -> None:
    naming, table = Naming(), OperationTable()
    codes = [compile(source, name, "exec") for source in ("1", "1.0", "True", "\n1") for name in ("a", "b")]
    accesses = ((table.location("x"), Mode.WRITE),)
    rules = [Acquire(), AcquireAgain(), AcquireAgain(2)]
    operations = [table.intern("lock", accesses, rule, thread) for rule in rules for thread in (0, 1)]
    keyed = [(code, code.co_filename) for code in codes]
    things = [*keyed, *rules, *operations, ("a", "b"), ("a,b",), 1, True]
    numbers = [naming.number((type(thing), thing), lambda pair: f"{pair[0]} {text_of(pair[1])}") for thing in things]
    assert len({*numbers}) == len(things)
    assert naming.is_common


def test_what_has_no_text_or_that_of_another_has_a_number_of_this_process_only() -> None:
    for text in (None, "both"):
        naming = Naming()
        numbers = [naming.number(thing, lambda thing, text=text: text) for thing in ("x", "y", "x")]  # type: ignore[misc]
        assert numbers[0] == numbers[2] != numbers[1]
        assert not naming.is_common
