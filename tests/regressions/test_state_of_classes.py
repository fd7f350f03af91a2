"""What the library looks up in classes, and in registries of its own, are operations where the program changes it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

import dpor
from dpor.core.results import Verdict

PREAMBLE = """
import abc, dataclasses, enum, functools, inspect, logging, threading, typing

def run(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def scenario():
    seen = []
"""

FAILING = {
    "singledispatch registered by an annotation": """
@functools.singledispatch
def show(x):
    return 0
def register():
    @show.register
    def _(x: int):
        return 1
run(register, lambda: seen.append(show(1)))
assert seen == [1]
""",
    "singledispatchmethod registered by an annotation": """
class Shown:
    @functools.singledispatchmethod
    def show(self, x):
        return 0
def register():
    @Shown.show.register
    def _(self, x: int):
        return 1
run(register, lambda: seen.append(Shown().show(1)))
assert seen == [1]
""",
    "a member that _missing_ keeps": """
class Level(enum.Enum):
    LOW = 1
    @classmethod
    def _missing_(cls, value):
        member = object.__new__(cls)
        member._name_, member._value_ = "OTHER", value
        cls._value2member_map_[value] = member
        return member
def look():
    seen.append(Level(7))
run(look, look)
assert seen[0] is seen[1]
""",
    "a member of another name": """
class Level(enum.Enum):
    LOW = 1
def add():
    Level._member_map_["LEAST"] = Level.LOW
def look():
    try:
        seen.append(Level["LEAST"])
    except KeyError:
        seen.append(None)
run(add, look)
assert seen == [Level.LOW]
""",
    "how many members there are": """
class Level(enum.Enum):
    LOW = 1
run(lambda: Level._member_names_.append("LOW"), lambda: seen.append(len(Level)))
assert seen == [2]
""",
    "an iteration over members": """
class Level(enum.Enum):
    LOW, HIGH = 1, 2
def look():
    for member in Level:
        seen.append(member)
run(lambda: Level._member_names_.remove("HIGH"), look)
assert len(seen) == 2
""",
    "the fields of a dataclass": """
@dataclasses.dataclass
class Pair:
    left: int = 0
run(lambda: Pair.__dataclass_fields__.pop("left"), lambda: seen.append(len(dataclasses.fields(Pair))))
assert seen == [0]
""",
    "a dataclass as a dict": """
@dataclasses.dataclass
class Pair:
    left: int = 0
pair = Pair()
run(lambda: Pair.__dataclass_fields__.pop("left"), lambda: seen.append(dataclasses.asdict(pair)))
assert seen == [{}]
""",
    "the type hints of a class": """
class Pair:
    left: int
def add():
    Pair.__annotations__["right"] = str
run(add, lambda: seen.append(len(typing.get_type_hints(Pair))))
assert seen == [2]
""",
    "the type hints of a function": """
def pair(left: int):
    pass
def add():
    pair.__annotations__["return"] = str
run(add, lambda: seen.append(len(typing.get_type_hints(pair))))
assert seen == [2]
""",
    "the signature of a function": """
def pair(left: int):
    pass
def change():
    pair.__annotations__["left"] = str
run(change, lambda: seen.append(inspect.signature(pair).parameters["left"].annotation))
assert seen == [str]
""",
    "abstract methods that are updated": """
class Base(abc.ABC):
    @abc.abstractmethod
    def method(self): ...
def update():
    Base.method = lambda self: 1
    abc.update_abstractmethods(Base)
def make():
    try:
        Base()
    except TypeError:
        seen.append("abstract")
run(update, make)
assert not seen
""",
    "loggers that there are": """
run(
    lambda: logging.getLogger("registered.here"),
    lambda: seen.append("registered.here" in logging.root.manager.loggerDict),
)
assert seen == [True]
""",
    "a __subclasshook__ that two threads call": """
class Base(abc.ABC):
    @classmethod
    def __subclasshook__(cls, kind):
        seen.append(len(seen))
        return False
class Other:
    pass
def look():
    isinstance(Other(), Base)
run(look, look)
assert seen == [0]
""",
    "a __subclasshook__ that does not know": """
class Base(abc.ABC):
    @classmethod
    def __subclasshook__(cls, kind):
        if cls is Base:
            seen.append(kind)
        return NotImplemented
class Derived(Base):
    pass
class Other:
    pass
Derived.register(Other)
def look():
    assert issubclass(Other, (int, Base))
run(look, look)
assert len(seen) == 1
""",
    "ABC.register as a decorator": """
class Base(abc.ABC):
    pass
def keep(kind):
    seen.append(kind)
    return kind
def register():
    @Base.register
    @keep
    class Virtual:
        pass
def look():
    for kind in list(seen):
        assert issubclass(kind, Base)
run(register, look)
""",
}


def _check(body: str, folder: Path) -> dpor.Report:
    file = folder / "program.py"
    file.write_text(PREAMBLE + indent(body, "    "))
    return dpor.check(f"{file}::scenario")


@pytest.mark.parametrize("name", FAILING)
def test_a_change_is_seen_by_those_who_look(name: str, tmp_path: Path) -> None:
    report = _check(FAILING[name], tmp_path)
    assert report.verdict is Verdict.FAIL, report.reasons


PASSING = {
    "look-ups in what nobody changes": (
        """
class Level(enum.Enum):
    LOW, HIGH = 1, 2
@dataclasses.dataclass
class Pair:
    left: int = 0
assert Level._value2member_map_ and Pair.__dataclass_fields__
def look():
    assert [Level(1), Level["HIGH"]] == list(Level)
    assert len(dataclasses.fields(Pair)) == 1
run(look, look)
""",
        1,
    ),
    "a __subclasshook__ under a lock": (
        """
lock = threading.Lock()
class Base(abc.ABC):
    @classmethod
    def __subclasshook__(cls, kind):
        seen.append(len(seen))
        return NotImplemented
class Derived(Base):
    pass
def look():
    with lock:
        assert issubclass(Derived, Base) and not issubclass(int, (str, Base))
run(look, look)
assert len(seen) == 3  # the last for `Derived` itself: `int` may be derived from it
""",
        None,
    ),
    "setdefault in _missing_": (
        """
class Level(enum.Enum):
    LOW = 1
    @classmethod
    def _missing_(cls, value):
        member = object.__new__(cls)
        member._name_, member._value_ = "OTHER", value
        return cls._value2member_map_.setdefault(value, member)
def look():
    seen.append(Level(7))
run(look, look)
assert seen[0] is seen[1]
""",
        None,
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_right_programs_pass(name: str, tmp_path: Path) -> None:
    body, executions = PASSING[name]
    report = _check(body, tmp_path)
    assert (report.verdict, report.reasons) == (Verdict.PASS, ())
    assert executions is None or report.executions == executions
