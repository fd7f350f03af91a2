"""What an object held dies before what is dropped after that object: a list that was cleared of two holders told that
the first holder's content had died first, as all holders died before their contents."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpor

PROGRAM = """
import threading

class Noisy:
    def __init__(self, name, told):
        self.name, self.told = name, told
    def __del__(self):
        self.told.append(self.name)

class Holder:
    def __init__(self, *inner):
        self.inner, self.other = inner[:-1], inner[-1:]

def scenario():
    told = []
    {made}
    def body():
        {dropped}
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert told == {told}, told
"""


@pytest.mark.parametrize(
    ("made", "dropped", "told"),
    [
        ("x = [Holder(Noisy(n, told)) for n in 'ab']", "x.clear()", "['b', 'a']"),
        ("x = [Holder([Noisy(n, told)]) for n in 'ab']", "x.clear()", "['b', 'a']"),
        ("x = [[Holder([Noisy(n, told)]), Noisy(n + n, told)] for n in 'ab']", "x.clear()", "['bb', 'b', 'aa', 'a']"),
        ("x = {n: Holder([Noisy(n, told)]) for n in 'ab'}", "x.clear()", "['a', 'b']"),
        ("x = [Holder(Noisy('a', told), Noisy('b', told))]", "x.pop()", "['a', 'b']"),
    ],
)
def test_the_contents_of_one_die_before_the_next(tmp_path: Path, made: str, dropped: str, told: str) -> None:
    source = PROGRAM.replace("{made}", made).replace("{dropped}", dropped).replace("{told}", told)
    (tmp_path / "program.py").write_text(source)
    namespace: dict[str, object] = {}
    exec(source, namespace)
    namespace["scenario"]()  # type: ignore[operator]
    report = dpor.check(f"{tmp_path}/program.py::scenario")
    assert report.verdict == "pass", report.findings


WEAKLY_REFERRED = """
import threading, weakref

class Hub:
    x = None

class Holder:
    def __init__(self, inner):
        self.inner = inner

def cleaning():
    try:
        yield
    finally:
        pass

def scenario():
    hub, refs = Hub(), []
    hub.x = None
    hub.items = [Holder([cleaning()])]
    def one():
        hub.x
        refs.append(weakref.ref(hub))
    def two():
        hub.x = 1
    def three():
        hub.items.clear()
        hub.x
    threads = [threading.Thread(target=body) for body in [one, two, three]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_let_go_of_an_object_before_there_is_a_weak_reference_to_it(tmp_path: Path) -> None:
    """They did so only after a thread had made one, which is no operation: repeated runs had other events."""
    file = tmp_path / "referred.py"
    file.write_text(WEAKLY_REFERRED)
    report = dpor.check(f"{file}::scenario", strategy="optimal")
    assert (report.verdict, report.reasons, report.executions) == ("pass", (), 4)
