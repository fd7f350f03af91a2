"""Hooks that do the plain thing: with these, instrumented code must behave as if it had never been touched."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from dpor.python.rewrite import HOOK_NAMES, SUPPORT

Hook = Callable[..., Any]


def same(value: Any, *_: object) -> Any:
    return value


def nothing(*_: object) -> None:
    return None


def set_attribute(value: Any, obj: Any, name: str) -> None:
    setattr(obj, name, value)


def set_item(value: Any, obj: Any, key: Any) -> None:
    obj[key] = value


OPERATORS: dict[str, Hook] = {
    ".add": operator.add,
    ".sub": operator.sub,
    ".mul": operator.mul,
    ".matmul": operator.matmul,
    ".div": operator.truediv,
    ".floordiv": operator.floordiv,
    ".mod": operator.mod,
    ".pow": operator.pow,
    ".lshift": operator.lshift,
    ".rshift": operator.rshift,
    ".and": operator.and_,
    ".or": operator.or_,
    ".xor": operator.xor,
    ".iadd": operator.iadd,
    ".isub": operator.isub,
    ".imul": operator.imul,
    ".imatmul": operator.imatmul,
    ".idiv": operator.itruediv,
    ".ifloordiv": operator.ifloordiv,
    ".imod": operator.imod,
    ".ipow": operator.ipow,
    ".ilshift": operator.ilshift,
    ".irshift": operator.irshift,
    ".iand": operator.iand,
    ".ior": operator.ior,
    ".ixor": operator.ixor,
    ".neg": operator.neg,
    ".pos": operator.pos,
    ".invert": operator.invert,
    ".eq": operator.eq,
    ".ne": operator.ne,
    ".lt": operator.lt,
    ".le": operator.le,
    ".gt": operator.gt,
    ".ge": operator.ge,
}

PLAIN: dict[str, Any] = {
    **SUPPORT,
    **OPERATORS,
    **dict.fromkeys(
        (
            ".attr",
            ".meth",
            ".meth_after",
            ".call",
            ".call_after",
            ".truth",
            ".format",
            ".getspecial",
            ".getsuper",
            ".raises",
            ".managed",
            ".base",
            ".made",
        ),
        same,
    ),
    **dict.fromkeys((".iter", ".unpack", ".unpackmap", ".subject", ".awaited"), same),
    **dict.fromkeys((".tick", ".gload", ".gdel", ".cload"), nothing),
    ".setattr": set_attribute,
    ".delattr": delattr,
    ".setspecial": set_attribute,
    ".delspecial": delattr,
    ".getitem": operator.getitem,
    ".setitem": set_item,
    ".delitem": operator.delitem,
    ".contains": lambda item, container: item in container,
    ".gstore": lambda name, value: value,
    ".cstore": lambda cell, value: value,
}

assert PLAIN.keys() == HOOK_NAMES
