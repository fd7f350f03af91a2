"""Lowers patterns of `match` to three-address code."""

from __future__ import annotations

import ast

from dpor.statics import ir
from dpor.statics.expressions import Expressions
from dpor.statics.ir import Allocate


class Patterns(Expressions):
    """Lowers patterns."""

    def _matched(self, node: ast.expr | ast.pattern, subject: str, patterns: list[ast.pattern]) -> str:
        """Lower all that the patterns may read of the subject, at any depth.

        A program under control reads it in one step at the position of the subject.
        """
        classes = [p for pattern in patterns for p in ast.walk(pattern) if isinstance(p, ast.MatchClass)]
        names = {self.private(name) for klass in classes for name in klass.kwd_attrs}
        if any(klass.patterns for klass in classes):
            names.add("__match_args__")
        return self.invoke(node, (ir.MATCHED, *sorted(names)), subject)

    def _pattern(self, pattern: ast.pattern, subject: str, inside: str) -> None:
        """Lower all that the pattern may read; it may fail after each, and then the next case follows.

        `inside`: the variable for what is found in the subject.
        """
        if isinstance(pattern, ast.MatchValue):
            self.invoke(pattern, ("__eq__",), subject, self.value(pattern.value))
        elif isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self._pattern(pattern.pattern, subject, inside)
            self._capture(pattern, pattern.name, subject)
        elif isinstance(pattern, ast.MatchOr):
            before, after = list(self.ends), []
            for part in pattern.patterns:
                self.ends = list(before)
                self._pattern(part, subject, inside)
                after += self.ends
                before = list(dict.fromkeys([*before, *self.ends]))
            self.ends = list(dict.fromkeys(after))
        elif isinstance(pattern, ast.MatchClass):
            self.invoke(pattern, ("__instancecheck__",), self.value(pattern.cls), subject)
            self._matched(pattern, subject, [pattern])
            for part in (*pattern.patterns, *pattern.kwd_patterns):
                self._pattern(part, inside, inside)
        elif isinstance(pattern, ast.MatchMapping):
            for key in pattern.keys:
                self.value(key)
            self._matched(pattern, subject, [pattern])
            for part in pattern.patterns:
                self._pattern(part, inside, inside)
            if pattern.rest is not None:
                self.at(pattern)
                rest = self.emit(Allocate(self.temporary(), "dict", (inside,), (inside,)))
                self._capture(pattern, pattern.rest, rest)
        elif isinstance(pattern, ast.MatchSequence):
            self._matched(pattern, subject, [pattern])
            for part in pattern.patterns:
                self._pattern(part, inside, inside)
        elif isinstance(pattern, ast.MatchStar):
            self.at(pattern)
            self._capture(pattern, pattern.name, self.emit(Allocate(self.temporary(), "list", (inside,))))

    def _capture(self, pattern: ast.pattern, name: str | None, src: str) -> None:
        if name is not None:
            self.at(pattern)
            self.store(name, src)
