"""Code of a package that only operators, descriptors, statements and built-in functions run, on objects that one thread
alone has. No call of the program leads to it, and nothing shared is touched."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpor
from dpor.python.sharing import called_in_c

LIBRARY = """
count = [0]

def bump():
    value = count[0]
    count[0] = value + 1
    return value

class Value:
    def __eq__(self, other): return bump() < 0
    def __hash__(self): return bump() * 0
    def __bool__(self): return bump() < 0
    def __enter__(self): bump()
    def __exit__(self, *error): pass
    def __iter__(self): bump(); return iter([1])
    def __next__(self): raise AssertionError("not called")
    def __neg__(self): return bump()
    def __radd__(self, other): return bump()
    def __iadd__(self, other): bump(); return self
    def __index__(self): return bump() * 0
    def __round__(self): return bump()
    def __init_subclass__(cls, counted=False, **given):
        if counted: bump()

class Meta(type):
    def __len__(cls): return bump()
    def __getattr__(cls, name): return bump()
    def __instancecheck__(cls, obj): return bump() < 0

class Classy(metaclass=Meta): pass

class Lazy:
    def __init__(self, make): self.make = make
    def __get__(self, obj, kind):
        value = obj.__dict__["lazy"] = self.make(obj)
        return value

class Checked:
    def __set__(self, obj, value): bump()
    def __set_name__(self, owner, name): pass

class Named:
    def __set_name__(self, owner, name): bump()
"""

USES = {
    "equality": "Mine() == 1",
    "hash": "{Mine(): 1}",
    "truth": "not Mine()",
    "with": "with Mine(): pass",
    "iteration of what is an iterator, too": "for _ in Mine(): pass",
    "unpacking": "[one] = Mine()",
    "sign": "-Mine()",
    "reflected": "1 + Mine()",
    "in place": "x = Mine()\n    x += 1",
    "index": "[1][Mine()]",
    "in": "Mine() in [1]",
    "round": "round(Mine())",
    "derived": "class C(Mine, counted=True): pass",
    "length of a class": "len(MyClassy)",
    "attribute of a class": "MyClassy.other",
    "instance check": "isinstance(1, MyClassy)",
    "name of an attribute": "class C: x = installed_operators.Named()",
    "non-data descriptor": "shared.lazy; installed_operators.bump()",
    "setter of a descriptor": "HasChecked().checked = 1",
}

PROGRAM = """
import threading
import installed_operators

{classes}

def use():
    {use}

def scenario():
    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert installed_operators.count[0] != 1
"""


CLASSES = {
    "Mine": "class Mine(installed_operators.Value): pass",
    "MyClassy": "class MyClassy(installed_operators.Classy): pass",
    "shared": "class HasLazy: lazy = installed_operators.Lazy(lambda self: object())\n\nshared = HasLazy()",
    "HasChecked": "class HasChecked: checked = installed_operators.Checked()",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("installed")
    (folder / "installed_operators.py").write_text(LIBRARY)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("use", USES.values(), ids=[*USES])
def test_a_lost_update_in_code_that_no_call_leads_to_is_found(tmp_path: Path, use: str) -> None:
    classes = "\n".join(text for name, text in CLASSES.items() if name in use)
    (tmp_path / "program.py").write_text(PROGRAM.format(classes=classes, use=use))
    report = dpor.check(f"{tmp_path}/program.py::scenario")
    assert report.verdict == "fail", report


def test_look_ups_in_c_are_unknown_where_their_type_is_no_part_of_the_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A proxy may call code of the program to find an attribute, and change."""
    proxy = weakref.ProxyType
    assert "__getattribute__" in vars(proxy)
    assert not called_in_c.looks_up_in_c(proxy)
    assert not called_in_c.looks_up_in_c(object)
    monkeypatch.setattr(called_in_c, "module_of_class", lambda kind: "elsewhere" if kind is proxy else "builtins")
    assert called_in_c.looks_up_in_c(proxy)
    assert not called_in_c.looks_up_in_c(object)
