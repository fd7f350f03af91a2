"""`alone` finds what `full` finds, in programs made at random in which most accesses keep to a locking discipline."""

from __future__ import annotations

import os
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest

from dpor.core.system import Escape, Locks, Store
from dpor.explorers.alone import Alone
from dpor.explorers.full import Full
from dpor.model import AbstractSystem
from dpor.testing import Observed, Spec, TooLarge, explore, make_program
from dpor.testing.judging import MakeExplorer

FIRST = int(os.environ.get("DPOR_ALONE_FIRST", "0"))
PROGRAMS = int(os.environ.get("DPOR_ALONE_PROGRAMS", "60"))

CONFIGURATIONS: dict[str, MakeExplorer] = {
    f"{escape}, {locks}, {store}": partial(Alone, escape=escape, locks=locks, store=store)
    for escape, locks, store in product(Escape, Locks, (Store.EVENTS, Store.CHOICES))
    if store is Store.EVENTS or (escape, locks) in ((Escape.UNSHARED, Locks.DISCIPLINE), (Escape.DYNAMIC, Locks.NONE))
}


def guarded_program(seed: int) -> Spec:
    """Make a program in which x is guarded by m and y by n, with a few breaches; every third one goes on for ever."""
    random = Random(seed)
    endless, breaches = seed % 3 == 0, random.choice([0, 0.1, 0.4])
    kinds = random.sample(["try", "foreign", "wait", "await", "nested", "join", "choose"], random.randrange(4))

    def access(variable: str) -> Any:
        value = random.choice(["0", "1"] if endless else ["1", "2", "a", "a+1"])
        word = random.choice(["r {0} a", "w {0} {1}", "rmw {0} a {2}", "cas {0} 0 1 b", "assert"])
        if word == "assert":
            return f"assert a<{random.randint(1, 2)}"
        if "await" in kinds and random.random() < 0.25:
            word = "await {0} _" + random.choice(["!=0", "==0", "==1"])
        accessed = word.format(variable, value, "1-a" if endless else "a+1")
        return ["if", f"a=={random.randint(0, 1)}", [accessed]] if random.random() < 0.2 else accessed

    def section(depth: int) -> list[Any]:
        variable, lock = random.choice([("x", "m"), ("y", "n")])
        inside = [access(variable) for _ in range(random.randint(1, 2))]
        if random.random() < breaches:
            return inside
        if "nested" in kinds and depth == 0 and random.random() < 0.5:
            inside += section(1)
        if "wait" in kinds and random.random() < 0.5:
            inside.append(random.choice([f"wait c{lock} {lock}", f"notify c{lock}", f"notifyall c{lock}"]))
            if random.random() < 0.2:
                inside.append(f"twait c{lock} {lock} b")
        if "try" in kinds and random.random() < 0.3:
            return [random.choice([f"try {lock} b", f"tlock {lock} b"]), ["if", "b==1", [*inside, f"unlock {lock}"]]]
        if "foreign" in kinds and random.random() < 0.3:
            return random.choice([[*inside, f"unlock {lock}"], [f"lock {lock}", *inside]])
        return [f"lock {lock}", *inside, f"unlock {lock}"]

    threads = []
    for _ in range(random.choice([2, 2, 3])):
        body = [part for _ in range(random.randint(1, 2)) for part in section(0)]
        if "choose" in kinds and random.random() < 0.3:
            body.insert(0, "choose a 2")
        if endless and random.random() < 0.6:
            body = [["while", "1", [*body, "r x a"] if random.random() < 0.3 else body]]
        threads.append(body)
    if "join" in kinds:
        last = len(threads) - 1
        threads[0].insert(0, f"spawn {last}")
        if not endless:
            threads[0] += random.choice([[f"join {last}"], [f"join {last}", "r x a", "assert a==1"]])
    locks = {"locks": ["m", "n"]} if random.random() < 0.7 else {"locks": ["n"], "rlocks": ["m"]}
    conditions = {"conds": ["cm", "cn"]} if "wait" in kinds else {}
    return {"vars": {"x": 0, "y": 0}, **locks, **conditions, "threads": threads}


def differs(full: Observed, seen: Observed) -> str:
    """Say in which respects a search has not seen what `full` has."""
    parts = ("outcomes", "deadlocks", "failures", "terminates", "livelock")
    wrong = [what for what in parts if getattr(full, what) != getattr(seen, what)]
    return ", ".join([*wrong, *(["states"] if seen.states > full.states else [])])


def wrong_in(program: Spec, configurations: dict[str, MakeExplorer]) -> dict[str, str]:
    """Say what each configuration does wrong on a program that `full` can explore. Raises `TooLarge` if it cannot."""
    full = explore(Full, AbstractSystem(program))
    found = {}
    for name, make in configurations.items():
        seen = explore(make, AbstractSystem(program), runs=50_000, states=50_000)
        if wrong := differs(full, seen):
            found[name] = wrong
    return found


@pytest.mark.parametrize("make", [guarded_program, partial(make_program, cyclic=True)], ids=["guarded", "any"])
def test_every_configuration_agrees_with_full(make: Any) -> None:
    judged = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        program = make(seed)
        try:
            assert wrong_in(program, CONFIGURATIONS) == {}, (seed, program)
        except TooLarge:
            continue
        judged += 1
    assert judged > PROGRAMS / 2
