"""The parts of CPython's own `threading.py` that are used as they are: instrumented, on the modelled primitives.

These are `Barrier` and `Timer`, so that broken barriers, resets, actions and timeouts behave exactly; `Condition`, for
locks that are not ours; its `wait_for`, whose predicate is the program's; the `RLock` in Python; and the tools for
iterators. Everything else in that file is blanked out before it is compiled, so lines in tracebacks are those of the
real file.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

from dpor.python.dropins import copying
from dpor.python.kernel.host_modules import DropInModule
from dpor.python.rewrite.cache import cached, source_of

FOUND: Final = frozenset(
    {
        "Barrier", "BrokenBarrierError", "Timer", "_RLock",
        "serialize_iterator", "synchronized_iterator", "concurrent_tee",
    }
)  # fmt: skip
"""The names that programs find in the copy; the last three from 3.15 on."""
_TAKEN: Final = FOUND | {"Condition", "_concurrent_tee"}
_HELPERS: Final = ("call_target", "run_in", "result_of", "call_back", "distinct", "as_completed", "run_task")
"""The functions of `program_code`."""
_surroundings: dict[str, Any] = {}
_copy: DropInModule | None = None
_condition: Any = None


def surround_with(names: dict[str, Any]) -> None:
    """Set the globals that the copy finds in place of the rest of the file. Called once, when all drop-ins are
    imported."""
    _surroundings.update(names)


def copy() -> DropInModule:
    """Return a module with what is `FOUND`; it is made when first needed."""
    global _copy, _condition
    if _copy is None:
        path = threading.__file__
        source = only(Path(path).read_text(), _TAKEN)
        _copy = copying.execute("threading", source, path, dict(_surroundings), _no_drop_in)
        _condition = vars(_copy)["Condition"]
        vars(_copy)["Condition"] = _surroundings["Condition"]
        vars(_copy).update({name: vars(helpers)[name] for helpers in [_execute_helpers()] for name in _HELPERS})
        _copy.settle()
    return _copy


def _execute_helpers() -> Any:
    path = Path(__file__).with_name("program_code.py")
    return copying.execute("threading", path.read_text(), str(path), {}, _no_drop_in)


def _no_drop_in(name: str) -> None:
    """These sources import nothing that differs between runs."""


def is_timer(thread_object: Any) -> bool:
    return _copy is not None and isinstance(thread_object, vars(_copy)["Timer"])


def condition_class() -> Any:
    """Return CPython's `Condition`."""
    copy()
    return _condition


def wait_for(condition: Any, predicate: Callable[[], Any], timeout: float | None) -> Any:
    """Call CPython's `Condition.wait_for`, on any condition."""
    return condition_class().wait_for(condition, predicate, timeout)


def call_target(*arguments: Any) -> None:
    """Call `program_code.call_target`."""
    copy().call_target(*arguments)


def run_in(context: Any, body: Callable[[], None]) -> None:
    """Call `program_code.run_in`."""
    copy().run_in(context, body)


def result_of(exception: Any, result: Any) -> Any:
    """Call `program_code.result_of`."""
    return copy().result_of(exception, result)


def call_back(callbacks: Any, future: Any, message: str, logger: Any) -> None:
    """Call `program_code.call_back`."""
    copy().call_back(callbacks, future, message, logger)


def distinct(futures: Any) -> Any:
    """Call `program_code.distinct`."""
    return copy().distinct(futures)


def as_completed(*arguments: Any) -> Any:
    """Call `program_code.as_completed`."""
    return copy().as_completed(*arguments)


def run_task(*arguments: Any) -> None:
    """Call `program_code.run_task`."""
    copy().run_task(*arguments)


def only(source: str, names: AbstractSet[str]) -> str:
    """Return the source with all lines blanked that do not define these names at its top level.

    >>> only('import os\\nclass A:\\n    pass\\nx = 1\\nclass B:\\n    y = 2\\n', {'B', 'x'})
    '\\n\\n\\nx = 1\\nclass B:\\n    y = 2\\n'
    """
    lines = source.splitlines(keepends=True)
    wanted = ["\n"] * len(lines)
    places = cached(lambda: _places(source, names), "definitions", source_of(__file__), source, sorted(names))
    for first, last in places:
        wanted[first:last] = lines[first:last]
    return "".join(wanted)


def _places(source: str, names: AbstractSet[str]) -> tuple[tuple[int, int], ...]:
    """Return the ranges of lines of their definitions, counted from 0: (first, last + 1)."""
    nodes = ast.parse(source).body
    return tuple((n.lineno - 1, n.end_lineno or n.lineno) for n in nodes if not names.isdisjoint(_defined(n)))


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return [node.name]
    return (
        [target.id for target in node.targets if isinstance(target, ast.Name)] if isinstance(node, ast.Assign) else []
    )
