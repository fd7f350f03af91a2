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

LAYERS = (
    {"core", "statics", "workloads"},
    {"primitives"},
    {"explorers", "model", "python"},
    {"findings"},
    {"report"},
    {"app"},
    {"testing", "pytest"},
    {"cli"},
    {"dpor"},
)
"""The parts, from the bottom up. Each may import those of lower layers; neighbours know nothing of each other."""

PYTHON = (
    {"kernel", "rewrite"},
    {"sharing"},
    {"effects"},
    {"hooks"},
    {"dropins"},
    {"narrate"},
    {"specs"},
    {"states"},
    {"program"},
)
"""The packages of `dpor/python`, likewise."""

LESS = {
    "statics": set(),
    "workloads": set(),
    "core": set(),
    "primitives": {"core"},
    "explorers": {"core"},
    "report": {"core"},
    "python": {"primitives", "statics", "core"},
}
"""Parts that may import no more than these of the layers below them. The rewriter imports the core only, too."""


def modules() -> dict[str, Path]:
    """All our modules, by name."""
    found = {}
    for package in ("dpor", "dpor/statics", "dpor/workloads"):  # the last two are links, which `rglob` does not follow
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def part_of(module: str) -> str:
    """The part that a module belongs to: a package of `dpor`, or "dpor" for its public face."""
    top, _, rest = module.partition(".")
    inner = rest.split(".")[0]
    return inner if top == "dpor" and inner not in ("", "__main__") else top


def _layer(layers: tuple[set[str], ...], part: str) -> int:
    found = [number for number, parts in enumerate(layers) if part in parts]
    assert found, f"say in which layer the part {part!r} is"
    return found[0]


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


def package_of(module: str) -> str:
    """The package that a module is in: a part of `dpor`, in the runtime the part of that."""
    parts = module.split(".")
    return ".".join(parts[:3] if module.startswith("dpor.python.") and len(parts) > 3 else parts[:2])


def names_imported(module: str) -> Iterator[tuple[ast.ImportFrom, str, ast.alias]]:
    """Each name of a `from ... import`, with the module that is meant: that of the name if it is one."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for alias, name in zip(node.names, _imported(node, package), strict=True):
                yield node, name, alias


def attributes_of_modules(module: str) -> Iterator[tuple[ast.Attribute, str]]:
    """Each `other.name` where `other` is a module of ours, with that module."""
    imported = {
        alias.asname or alias.name: name
        for node, name, alias in names_imported(module)
        if name in MODULES and name.endswith("." + alias.name) and name != node.module  # not `run` of the module `run`
    }
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            yield node, imported[node.value.id]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_part_imports_only_what_it_may(module: str) -> None:
    part = part_of(module)
    below = {name for parts in LAYERS[: _layer(LAYERS, part)] for name in parts}
    allowed = (below & LESS.get(part, below)) | {part}
    wrong = sorted(name for name in imports_of(module) if name in MODULES and part_of(name) not in allowed)
    assert not wrong, f"{module} ({part}) must not import {', '.join(wrong)}"


PYTHON_MODULES = sorted(name for name in MODULES if name.count(".") > 2 and name.startswith("dpor.python."))


@pytest.mark.parametrize("module", PYTHON_MODULES)
def test_packages_of_the_runtime_import_downwards(module: str) -> None:
    package = module.split(".")[2]
    layer = _layer(PYTHON, package)
    for name in imports_of(module):
        if name.startswith("dpor.python."):
            other = name.split(".")[2]
            assert other == package or _layer(PYTHON, other) < layer, f"{module} must not import {name}"
        elif package == "rewrite" and name in MODULES:
            assert part_of(name) == "core", f"{module} must not import {name}"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_module_assigns_the_names_of_another(module: str) -> None:
    """What a lower layer needs of a higher one is given to it (`dpor.python.kernel.above`); the state of the run is in
    attributes of `dpor.python.kernel.run.run`."""
    for node, other in attributes_of_modules(module):
        if isinstance(node.ctx, ast.Store):
            raise AssertionError(f"{module}:{node.lineno} assigns {other}.{node.attr}")


@pytest.mark.parametrize("module", sorted(MODULES))
def test_private_names_are_used_in_their_package_only(module: str) -> None:
    """A name that begins with `_` may be used by the modules beside its own."""
    uses = [(node.lineno, other, node.attr) for node, other in attributes_of_modules(module)]
    for node, other, alias in names_imported(module):
        if other in MODULES:
            uses.append((node.lineno, other, alias.name))
    wrong = [
        f"line {line}: {other}.{name}"
        for line, other, name in uses
        if name.startswith("_") and not name.startswith("__")
        if package_of(other) != package_of(module)
    ]
    assert not wrong, f"{module} uses what is private elsewhere: {'; '.join(wrong)}"


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("dpor.python.kernel.")))
def test_modules_of_the_kernel_are_small(module: str) -> None:
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("module", sorted(name for name in MODULES if name.startswith("dpor.workloads")))
def test_workloads_use_the_standard_library_only(module: str) -> None:
    others = {name for name in imports_of(module) if not name.startswith("dpor.workloads")}
    assert others <= sys.stdlib_module_names


def test_few_files_read_the_statics() -> None:
    read = {module: {part_of(name) for name in imports_of(module) if name in MODULES} for module in MODULES}
    readers = {module for module, parts in read.items() if "statics" in parts and part_of(module) != "statics"}
    assert readers <= {"dpor.python.program.static_facts", "dpor.python.states.stacks", "dpor.app.analysing"}


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
        "dpor.cli.options",
        "dpor.cli.workloads",
        "dpor.cli.completing",
        "dpor.report.text",
        "dpor.report.progress",
        "dpor.core.schedule",
    ):
        tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
        at_once = {name for node in tree.body for name in _imported(node, module)}
        assert not at_once & late, f"{module} imports {at_once & late} at its top"
