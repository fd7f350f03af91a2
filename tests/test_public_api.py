"""The public names, and that the options have one form everywhere."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys

import pytest

import dpor


@pytest.mark.parametrize("name", dpor.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(dpor, name) is not None
    assert name in dir(dpor)


def test_public_names_are_documented() -> None:
    undocumented = [
        name
        for name in dpor.__all__
        if (inspect.isclass(thing := getattr(dpor, name)) or inspect.isfunction(thing)) and not thing.__doc__
    ]
    assert not undocumented


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'dpor' has no attribute 'nope'"):
        _ = dpor.nope


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, dpor; print([m for m in sys.modules if m.startswith('dpor.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_the_package_s() -> None:
    assert importlib.metadata.version("dpor") == dpor.__version__
