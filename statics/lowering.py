"""Lowers whole programs from source to three-address code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePath

from dpor.statics.ir import Function, LoweredProgram, Parameters
from dpor.statics.scopes import LexicalScopes
from dpor.statics.statements import Statements


def module_name(path: str) -> str:
    """The dotted name under which the file is imported, with its directories as packages."""
    parts = list(PurePath(path).with_suffix("").parts)
    if parts and parts[-1] == "__init__":
        parts.pop()
    return ".".join(part for part in parts if part not in ("/", "."))


def lower(sources: Mapping[str, str], names: Mapping[str, str] | None = None) -> LoweredProgram:
    """Lower source files. Raises SyntaxError.

    sources   the text of each file, by path
    names     the name under which each is imported, by path; None: they follow from the paths
    """
    program = LoweredProgram(names=dict(names or {path: module_name(path) for path in sources}))
    for path, text in sources.items():
        tree = ast.parse(text, path)
        function = Function(path, "<module>", 1, Parameters(), is_module=True)
        program.modules[program.names[path]] = function
        program.functions.append(function)
        scopes = LexicalScopes(tree).of
        laying = Statements(program, path, function, scopes, scopes[tree])
        laying.keys[scopes[tree]] = function.key
        laying.block(tree.body)
        laying.give_back(laying.plain_value())
    return program
