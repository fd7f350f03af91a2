"""Rewrites `"%s, %s" % (a, b)`, which CPython compiles as an f-string: it formats one part after the other."""

from __future__ import annotations

import ast
import re

from dpor.python.rewrite.syntax import at

_PIECE = re.compile(
    r"(?P<text>[^%]+)|%(?P<percent>%)|%(?P<flags>[-+ #0]*)(?P<width>\d{0,2})(?P<precision>\.\d{0,2})?(?P<how>[sra])"
)


def as_fstring(node: ast.BinOp) -> ast.JoinedStr | None:
    """Return the f-string that the compiler makes of the expression; None if it makes none."""
    left, right = node.left, node.right
    if type(node.op) is not ast.Mod or not isinstance(left, ast.Constant) or not isinstance(left.value, str):
        return None
    if not isinstance(right, ast.Tuple) or any(isinstance(item, ast.Starred) for item in right.elts):
        return None
    parts: list[ast.expr] = []
    given = iter(right.elts)
    at_piece = 0
    while at_piece < len(left.value):
        piece = _PIECE.match(left.value, at_piece)
        if piece is None:
            return None
        at_piece = piece.end()
        value = None if piece["how"] is None else next(given, None)
        if value is not None:
            parts.append(_shown(piece, value))
        elif piece["how"] is None:
            parts.append(at(ast.Constant(piece["text"] or "%"), left))
        else:
            return None
    return at(ast.JoinedStr(parts), node) if next(given, None) is None else None


def _shown(piece: re.Match[str], value: ast.expr) -> ast.expr:
    """Turn `%-5.3s` into `{value!s:5.3}`."""
    spec = piece["width"].lstrip("0")
    if spec and "-" not in piece["flags"]:
        spec = ">" + spec
    if piece["precision"] is not None:
        spec += "." + (piece["precision"][1:].lstrip("0") or "0")
    format_spec = ast.JoinedStr([at(ast.Constant(spec), value)]) if spec else None
    if format_spec is not None:
        at(format_spec, value)
    return at(ast.FormattedValue(value, ord(piece["how"]), format_spec), value)
