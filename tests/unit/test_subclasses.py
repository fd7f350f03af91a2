"""`__subclasses__` is asked while several threads exist: that is no matter unless a class is made meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source_outcomes import outcomes

HEAD = """
class Base:
    pass

class Derived(Base):
    pass

class Other:
    pass

def derive(kind):
    class New(kind):
        pass
    made.append(New)

made = []

def scenario():
    made.clear()
    told = []
"""


def told(directory: Path, body: str) -> set[str]:
    return outcomes(directory, HEAD + "".join(f"    {line}\n" for line in body.strip().splitlines())).incomplete


@pytest.mark.parametrize(
    "body",
    [
        "run(lambda: told.append(len(Base.__subclasses__())), lambda: told.append(len(Derived.__subclasses__())))",
        "run(lambda: told.append(len(Base.__subclasses__())), lambda: derive(Other))",
        "derive(Base)\nrun(lambda: told.append(len(Base.__subclasses__())), lambda: told.append(1))",
        "told.append(len(Base.__subclasses__()))\nrun(lambda: derive(Base), lambda: told.append(1))",
        "run(lambda: told.append(len(Base.__subclasses__())), lambda: told.append(1))\nderive(Base)",
    ],
)
def test_no_class_is_made_meanwhile(tmp_path: Path, body: str) -> None:
    assert not told(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "run(lambda: told.append(len(Base.__subclasses__())), lambda: derive(Base))",
        "run(lambda: told.append(len(Base.__subclasses__()[0].__subclasses__())), lambda: derive(Derived))",
        "def f():\n    derive(Base)\n    told.append(len(Base.__subclasses__()))\nrun(f, f)",
        "class Local:\n    pass\nrun(lambda: told.append(len(Local.__subclasses__())), lambda: told.append(1))",
    ],
)
def test_one_may_be_made(tmp_path: Path, body: str) -> None:
    assert any("__subclasses__" in reason for reason in told(tmp_path, body))
