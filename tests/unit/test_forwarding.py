"""`Forwarding`: whatever the parts of the seam ask of a system, a system around another one answers, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpor.app.targets import open_target
from dpor.core.options import Options
from dpor.core.system import STOP, Ending, Forwarding, LockingSystem, OracleSystem, Run, StatefulSystem, System, Trace
from dpor.findings.data_races import RaceDetector

PROTOCOLS = (System, StatefulSystem, OracleSystem, LockingSystem)


def names_in(protocol: type[Any]) -> list[str]:
    """All that the protocol and those that it extends ask for."""
    return sorted({name for kind in protocol.__mro__ if kind in PROTOCOLS for name in vars(kind) if name[0] != "_"})


def answering(protocol: type[Any]) -> Any:
    """A system that has just what the protocol asks for, and answers each question with it."""

    def method(name: str) -> Any:
        return lambda self, *args, **kwargs: (self, name, args, kwargs)

    def value(name: str) -> Any:
        return property(lambda self: (self, name))

    members = {name: method(name) if callable(getattr(protocol, name)) else value(name) for name in names_in(protocol)}
    return type("Answering", (), members)()


@pytest.mark.parametrize(
    ("protocol", "name"), [(protocol, name) for protocol in PROTOCOLS for name in names_in(protocol)]
)
def test_each_method_is_that_of_the_other_system(protocol: type[Any], name: str) -> None:
    system = answering(protocol)
    around = Forwarding(system)
    own, other = getattr(around, name), getattr(system, name)
    assert own == other
    if callable(other):
        assert own(1, "a", key=2) == (system, name, (1, "a"), {"key": 2})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_can_do_what_the_other_system_can_and_no_more(protocol: type[Any]) -> None:
    around = Forwarding(answering(protocol))
    can = [isinstance(around, kind) for kind in PROTOCOLS[1:]]
    assert can == [issubclass(protocol, kind) for kind in PROTOCOLS[1:]]


def test_what_a_system_has_beyond_the_protocols_is_there_too() -> None:
    system = answering(System)
    system.describe = lambda: "described"
    assert Forwarding(system).describe() == "described"  # type: ignore[attr-defined]


def test_methods_of_a_subclass_come_first() -> None:
    class Longer(Forwarding):
        def __init__(self, system: Any) -> None:
            super().__init__(system)
            self.other = system

        def pending(self) -> Any:
            return ("longer", self.other.pending())

    system = answering(StatefulSystem)
    around = Longer(system)
    assert around.pending() == ("longer", system.pending())
    assert around.state() == system.state()


def test_a_run_through_it_is_a_run() -> None:
    class One:
        """Asks once."""

        asked: int | None = None

        def run(self, trace: Trace, choose: Any) -> Run:
            self.asked = choose(1)
            return Run(Ending.STOPPED)

        def pending(self) -> Any:
            return ()

    system = One()
    RaceDetector(system).run(Trace(), lambda enabled: STOP)  # type: ignore[arg-type]
    assert system.asked == STOP


def test_what_checks_use_goes_through_forwarding(tmp_path: Path) -> None:
    file = tmp_path / "program.json"
    file.write_text('{"vars": {"x": 0}, "threads": [["w x 1"]]}')
    for options in (Options(), Options(races=True)):
        system = open_target(str(file), options)
        assert isinstance(system, Forwarding)
        assert isinstance(system, StatefulSystem)
