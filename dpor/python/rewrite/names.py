"""The names of the hooks, which instrumented code looks up in its module's globals.

A hook's name begins with a dot, so that no program can write it. It is in the module's own globals: a name in
`builtins` would be visible to all code, and a class body with a namespace of its own would be asked for it.
"""

from __future__ import annotations

import ast

BINARY: dict[type[ast.operator], str] = {
    ast.Add: ".add",
    ast.Sub: ".sub",
    ast.Mult: ".mul",
    ast.MatMult: ".matmul",
    ast.Div: ".div",
    ast.FloorDiv: ".floordiv",
    ast.Mod: ".mod",
    ast.Pow: ".pow",
    ast.LShift: ".lshift",
    ast.RShift: ".rshift",
    ast.BitAnd: ".and",
    ast.BitOr: ".or",
    ast.BitXor: ".xor",
}

INPLACE: dict[type[ast.operator], str] = {op: ".i" + name[1:] for op, name in BINARY.items()}

UNARY: dict[type[ast.unaryop], str] = {ast.USub: ".neg", ast.UAdd: ".pos", ast.Invert: ".invert"}

COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: ".eq",
    ast.NotEq: ".ne",
    ast.Lt: ".lt",
    ast.LtE: ".le",
    ast.Gt: ".gt",
    ast.GtE: ".ge",
}

OPERAND: dict[type[ast.cmpop], str] = {
    **COMPARE,
    ast.In: ".contains",
    ast.NotIn: ".contains",
    ast.Is: ".is",
    ast.IsNot: ".is",
}
"""The comparison that a link of a chained comparison carries (see `operand`); negative ones negate its result."""

CHAINED = frozenset({"__cause__", "__context__", "__suppress_context__", "__traceback__"})
"""Attributes of an exception that change when it is raised."""

OF_GENERATORS = frozenset(
    {
        *("gi_frame", "gi_running", "gi_suspended", "gi_yieldfrom"),
        *("cr_frame", "cr_running", "cr_suspended", "cr_await"),
    }
)
"""Attributes that show the position of a generator."""

LOADED_SPECIALLY = (
    CHAINED
    | OF_GENERATORS
    | {"__dict__", "__globals__", "__kwdefaults__", "__annotations__", "f_globals", "cell_contents", "modules"}
    | {"__module__"}
)
"""Attributes that are not fields; their loads have a hook of their own."""


def is_stored_specially(attribute: str) -> bool:
    """True if a store of the attribute changes what lookups, calls or operators find."""
    return attribute == "cell_contents" or (attribute.startswith("__") and attribute.endswith("__"))


HOOK_NAMES: frozenset[str] = frozenset(
    [
        *(".attr", ".meth", ".call", ".meth_after", ".call_after", ".setattr", ".delattr"),
        *(".getspecial", ".setspecial", ".delspecial", ".getsuper", ".raises", ".managed", ".base", ".made"),
        *(".getitem", ".setitem", ".delitem", ".slice"),
        *BINARY.values(),
        *INPLACE.values(),
        *UNARY.values(),
        *COMPARE.values(),
        *(".contains", ".truth", ".format", ".subject", ".tick"),
        *(".iter", ".unpack", ".unpackmap", ".awaited"),
        *(".gload", ".gstore", ".gdel", ".cload", ".cstore"),
        *(".operand", ".is"),
    ]
)
"""Every name that instrumented code may need. Those that do not depend on a runtime are in `SUPPORT`."""
