"""Random programs do the same, in the same order, with and without hooks."""

from __future__ import annotations

import ast
import warnings

import pytest

from dpor.python.rewrite import scopes
from tests.transparency.grammar import Programs
from tests.transparency.probes import instrumented, plain


def compiles(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(source, "<program>", "exec")
        except SyntaxError:
            return False
    return True


def differing(seeds: range) -> tuple[list[int], int]:
    """The seeds of the programs that behave differently, and how many programs were compared."""
    different, compared = [], 0
    for seed in seeds:
        source = Programs(seed).program()
        if not compiles(source):
            continue
        compared += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = plain(source)
            names = frozenset(scopes.scopes_of(ast.parse(source)).module.bound)
            if instrumented(source) != expected or instrumented(source, names) != expected:
                different.append(seed)
    return different, compared


def test_programs() -> None:
    different, compared = differing(range(150))
    assert different == []
    assert compared > 100


def test_programs_use_the_whole_language() -> None:
    """Every statement, expression and pattern of the oldest Python that we support."""
    used = set()
    for source in (Programs(seed).program() for seed in range(150)):
        if compiles(source):
            used |= {type(node) for node in ast.walk(ast.parse(source))}
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "_ast_Ellipsis"}
    later = {"TypeAlias", "TryStar", "TemplateStr", "Interpolation"}
    for name, kind in vars(ast).items():
        if (
            isinstance(kind, type)
            and issubclass(kind, (ast.stmt, ast.expr, ast.pattern))
            and kind.__subclasses__() == []
        ):
            assert kind in used or name in old | later, name


@pytest.mark.slow
def test_many_programs() -> None:
    different, compared = differing(range(1000, 9000))
    assert different == []
    assert compared > 6000
