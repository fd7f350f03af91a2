"""Which part may import which, as drawn in ARCHITECTURE.md, and that no modules import each other in a circle.

All imports count: those inside functions and under TYPE_CHECKING too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

CORE = {
    "dpor.core.clocks",
    "dpor.core.dependence",
    "dpor.core.errors",
    "dpor.core.happens_before",
    "dpor.core.memory",
    "dpor.core.plural",
    "dpor.core.operations",
    "dpor.core.options",
    "dpor.core.oracle",
    "dpor.core.pulse",
    "dpor.core.outcome",
    "dpor.core.data_races",
    "dpor.core.explanation",
    "dpor.core.results",
    "dpor.core.steps",
    "dpor.core.schedule",
    "dpor.core.system",
    "dpor.core.version",
    "dpor.workloads",
}
"""Values and pure functions that every part may use."""

MAY_IMPORT = {
    "core": set(),
    "primitives": {"core"},
    "explorers": {"core"},
    "model": {"primitives", "core"},
    "runtime": {"primitives", "statics", "core"},
    "report": {"core"},
    "embedding": {"primitives", "core"},
    "findings": {"core"},
    "checking": {"embedding", "report", "findings", "explorers", "model", "runtime", "core"},
    "comparing": {"checking", "explorers", "report", "core"},
    "testing": {"checking", "findings", "explorers", "runtime", "model", "primitives", "core"},
    "debugger": {"runtime", "core"},
    "pytest": {"checking", "debugger", "report", "runtime", "core"},
    "front": {
        *("checking", "debugger", "embedding", "comparing", "pytest", "testing"),
        *("report", "findings", "explorers", "runtime", "statics", "core"),
    },
    "statics": set(),
    "workloads": set(),
}
"""What each part may import besides itself."""

FRONT = {
    "dpor",
    "dpor.__main__",
    "dpor.app.analysing",
    "dpor.cli.answers",
    "dpor.cli.main",
    "dpor.cli.analyze",
    "dpor.cli.ci",
    "dpor.cli.compare",
    "dpor.cli.doctor",
    "dpor.cli.explain",
    "dpor.cli.fuzz",
    "dpor.cli.searching",
    "dpor.cli.static",
    "dpor.cli.workloads",
    "dpor.cli.completing",
    "dpor.app.doctor",
    "dpor.cli.guard",
}


CHECKING = {"dpor.app.checking", "dpor.app.budgets", "dpor.app.replaying", "dpor.app.strategies", "dpor.app.targets"}


def modules() -> dict[str, Path]:
    """All our modules, by name."""
    found = {}
    for package in ("dpor", "statics", "workloads"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def part_of(module: str) -> str:
    """The part that a module belongs to."""
    if module in FRONT:
        return "front"
    if module in CORE:
        return "core"
    if module in CHECKING:
        return "checking"
    top, _, rest = module.partition(".")
    return top if top != "dpor" else rest.split(".")[0]


def imports_of(module: str) -> set[str]:
    """The names of all modules that this one imports: ours resolved to the file, others by their top name."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name in _imported(node, package):
            found.add(name if name in MODULES else name.split(".")[0])
    return found - {module}


def _imported(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parts = package.split(".")
            base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            yield inner if inner in MODULES else base


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_part_imports_only_what_it_may(module: str) -> None:
    part = part_of(module)
    assert part in MAY_IMPORT, f"{module}: say in MAY_IMPORT what the part {part!r} may import"
    allowed = MAY_IMPORT[part] | {part}
    wrong = sorted(name for name in imports_of(module) if name in MODULES and part_of(name) not in allowed)
    assert not wrong, f"{module} ({part}) must not import {', '.join(wrong)}"


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("workloads")))
def test_workloads_use_the_standard_library_only(module: str) -> None:
    assert {name.split(".")[0] for name in imports_of(module)} <= {*sys.stdlib_module_names, "workloads"}


def test_few_files_read_the_statics() -> None:
    readers = {module for module in MODULES if module.startswith("dpor") and "statics" in _tops(module)}
    assert readers <= {"dpor.python.program.static_facts", "dpor.python.states.stacks", "dpor.app.analysing"}


def _tops(module: str) -> set[str]:
    return {name.split(".")[0] for name in imports_of(module)}


def test_no_circle_of_imports() -> None:
    """Depth first; a module met again on the way to itself closes a circle."""
    graph = {module: sorted(name for name in imports_of(module) if name in MODULES) for module in MODULES}
    state: dict[str, str] = {}

    def visit(module: str, way: list[str]) -> None:
        if state.get(module) == "done":
            return
        assert module not in way, " -> ".join([*way[way.index(module) :], module])
        for name in graph[module]:
            visit(name, [*way, module])
        state[module] = "done"

    for module in graph:
        visit(module, [])


def test_the_front_starts_without_what_a_quick_verdict_does_not_need() -> None:
    """`dpor check` on a small program must answer in under half a second: these imports are made late."""
    late = {
        "rich",
        "json",
        "dpor.app.checking",
        "dpor.app.replaying",
        "dpor.app.targets",
        "dpor.explorers",
        "dpor.python",
        "dpor.model",
    }
    for module in (
        "dpor",
        "dpor.__main__",
        "dpor.cli.answers",
        "dpor.cli.main",
        "dpor.cli.analyze",
        "dpor.cli.ci",
        "dpor.cli.compare",
        "dpor.cli.doctor",
        "dpor.cli.explain",
        "dpor.cli.fuzz",
        "dpor.cli.searching",
        "dpor.cli.static",
        "dpor.cli.workloads",
        "dpor.cli.completing",
        "dpor.report.text",
        "dpor.report.progress",
        "dpor.core.schedule",
    ):
        tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
        at_once = {name for node in tree.body for name in _imported(node, module)}
        assert not at_once & late, f"{module} imports {at_once & late} at its top"
