"""What is known of the code of types."""

from __future__ import annotations

import importlib.machinery
import sys
import types

import pytest

from dpor.python.kernel import classes
from dpor.python.sharing import called_in_c


def test_a_class_in_c_without_a_dot_in_its_name_is_not_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Proxy` of lazy_object_proxy says that it is of `builtins`, and its operators call code of the program. Here,
    `mappingproxy` plays its part."""
    kind = types.MappingProxyType
    assert classes.module_of_class(kind) == "builtins"
    assert not called_in_c.computes_in_c(kind)
    in_c = types.ModuleType("foreign.c")
    in_c.__file__ = f"foreign/c{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    vars(in_c)["Proxy"] = kind
    monkeypatch.setitem(sys.modules, "foreign.c", in_c)
    monkeypatch.setattr(classes, "_BUILT_IN", classes._BUILT_IN - {kind})
    classes._module_in_c.cache_clear()
    assert classes.module_of_class(kind) == "foreign.c"
    assert called_in_c.computes_in_c(kind)
    classes._module_in_c.cache_clear()
