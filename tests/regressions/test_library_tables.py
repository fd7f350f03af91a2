"""Containers of modules that are not executed again are shared by threads, and are as new in every run.

Two threads could both add a reason to `http.client.responses`, and dpor passed, as nobody had given them the dict; what
one run had added was there in the next."""

from __future__ import annotations

import http.client
import mimetypes
from collections.abc import Callable
from pathlib import Path

import pytest

import dpor

PROGRAM = """
import http.client
import json
import keyword
import mimetypes
import threading
import xml.etree.ElementTree as ET
from http.client import responses

def run(work):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def one_adds(table, add):
    added = []
    def work():
        if "zz" not in table:
            add()
            added.append(1)
    run(work)
    assert len(added) < 2

def in_a_dict():
    one_adds(http.client.responses, lambda: http.client.responses.setdefault("zz", 1))

def imported_by_name():
    one_adds(responses, lambda: responses.update(zz=1))

def in_a_list():
    import urllib.parse
    one_adds(urllib.parse.uses_netloc, lambda: urllib.parse.uses_netloc.append("zz"))

def in_a_class():
    import http.server
    table = http.server.SimpleHTTPRequestHandler.extensions_map
    one_adds(table, lambda: table.update(zz=1))

def never_twice():
    added = []
    def work():
        if "zz" not in mimetypes.types_map:
            mimetypes.types_map["zz"] = "a/b"
            added.append(1)
    run(work)
    assert added

def of_the_interpreter():
    import keyword
    number = len(keyword.kwlist)
    assert number < 36
    run(lambda: keyword.kwlist.append(1))
    assert len(keyword.kwlist) == number + 2

def by_the_main_thread():
    assert "zz" not in http.client.responses
    http.client.responses["zz"] = 1
    run(lambda: None)

def by_a_function():
    assert "zz" not in ET._namespace_map
    ET.register_namespace("aa", "zz")
    run(lambda: None)

def by_a_method():
    assert mimetypes.guess_type("a.zz") == (None, None)
    mimetypes.add_type("a/b", ".zz")
    run(lambda: None)

def in_an_object():
    assert not hasattr(json._default_encoder, "mark")
    json._default_encoder.mark = 1
    run(lambda: None)
"""
TABLES = http.client.responses, mimetypes.types_map


@pytest.mark.parametrize("strategy", ["optimal", "dpor"])
@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        *[(name, "fail") for name in ("in_a_dict", "imported_by_name", "in_a_list", "in_a_class")],
        *[(name, "pass") for name in ("never_twice", "of_the_interpreter", "by_the_main_thread", "by_a_function")],
        *[(name, "pass") for name in ("by_a_method", "in_an_object")],
    ],
)
def test_what_a_run_does_to_a_table_lasts_as_long_as_the_run(
    tmp_path: Path, target: str, verdict: str, strategy: str
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    before = [{**table} for table in TABLES]
    report = dpor.check(f"{tmp_path}/program.py::{target}", strategy=strategy)
    assert report.verdict == verdict, report.reasons
    if report.findings:
        assert dpor.replay(report.findings[0].saved).message == report.findings[0].message
    assert [{**table} for table in TABLES] == before


TRUSTED = """
known = []
items = {}

class Base:
    subclasses = []

    def __init_subclass__(cls):
        Base.subclasses.append(cls)

def add(item):
    known.append(item)
"""
TRUSTING = """
import threading
import trusted

class Mine(trusted.Base):
    pass

trusted.add(1)
trusted.add(Mine)

def scenario():
    assert trusted.Base.subclasses == [Mine], trusted.Base.subclasses
    assert trusted.known.count(Mine) == 1
    trusted.add(2)
    added = []
    def work():
        if "x" not in trusted.items:
            trusted.items["x"] = 1
            added.append(1)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert added
    assert trusted.known.count(2) == 1
"""


def test_what_a_trusted_package_keeps_lasts_as_long_as_the_run(installed: Callable[..., str]) -> None:
    report = dpor.check(installed(TRUSTING, trusted=TRUSTED), trust=("trusted",))
    assert report.verdict == "pass", report.findings
    assert report.executions > 2
