"""`random`, `uuid`, `secrets`, `os`: the same in every run."""

from __future__ import annotations

import os as real_os
import random as real
from typing import Any

import pytest

from dpor.core.errors import Unsupported
from dpor.core.system import Trace
from dpor.python.kernel.options import RuntimeOptions
from tests.under_control import FunctionSystem, once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")
random: Any = stdlib.module_for_program("random")
uuid: Any = stdlib.module_for_program("uuid")
os: Any = stdlib.module_for_program("os")
secrets: Any = stdlib.module_for_program("secrets")

DRAWS = {
    "random": lambda: random.random(),
    "randint": lambda: random.randint(1, 10**9),
    "gauss": lambda: random.gauss(0, 1),
    "choice": lambda: random.choice(range(10**9)),
    "sample": lambda: tuple(random.sample(range(10**9), 3)),
    "choices": lambda: tuple(random.choices(range(10**9), k=3)),
    "Random": lambda: random.Random().random(),
    "SystemRandom": lambda: random.SystemRandom().random(),
    "uuid1": lambda: str(uuid.uuid1()),
    "uuid4": lambda: str(uuid.uuid4()),
    "urandom": lambda: os.urandom(8),
    "token_hex": lambda: secrets.token_hex(),
    "randbelow": lambda: secrets.randbelow(10**9),
}


@pytest.mark.parametrize("draw", sorted(DRAWS))
def test_a_draw_is_the_same_in_every_run_and_never_twice_in_one(draw: str) -> None:
    def program() -> Any:
        drawn: list[Any] = []
        worker = threading.Thread(target=lambda: drawn.append(DRAWS[draw]()))
        worker.start()
        mine = [DRAWS[draw](), DRAWS[draw]()]
        worker.join()
        return [*mine, *drawn]

    first, second = outcomes(program), outcomes(program)
    assert first == second
    assert len(first) == 1
    assert len(set(*first)) == 3


def test_a_seed_gives_the_real_sequence() -> None:
    def drawn(module: Any) -> Any:
        module.seed(42)
        deck = list(range(10))
        module.shuffle(deck)
        return [module.random(), module.randrange(100), deck, module.choice("abc"), module.getrandbits(16)]

    state = real.getstate()
    try:
        assert once(lambda: drawn(random)) == drawn(real)
        assert once(lambda: random.Random(7).sample(range(50), 4)) == real.Random(7).sample(range(50), 4)
    finally:
        real.setstate(state)


def test_the_host_is_left_alone() -> None:
    state = real.getstate()
    once(lambda: random.seed(1))
    assert real.getstate() == state


def test_uuids_are_real_ones() -> None:
    import uuid as real_uuid

    made = once(uuid.uuid4), once(uuid.uuid1)
    assert [type(u) for u in made] == [real_uuid.UUID, real_uuid.UUID]
    assert [u.version for u in made] == [4, 1]
    assert uuid.UUID is real_uuid.UUID


def test_what_else_is_in_os_is_the_real_thing() -> None:
    assert os.path is real_os.path
    assert os.environ == real_os.environ
    assert os.cpu_count() == 4


def test_a_fork_ends_the_check() -> None:
    system = FunctionSystem(lambda: os.fork(), RuntimeOptions(), set())
    with pytest.raises(Unsupported, match=r"os\.fork is not modelled"):
        system.run(Trace(), lambda enabled: 0)


def test_every_function_that_the_real_module_lists_is_there() -> None:
    assert set(random.__all__) == set(real.__all__)
    for name in real.__all__:
        assert hasattr(random, name)
