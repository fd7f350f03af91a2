"""Which part may import which, as drawn in ARCHITECTURE.md, and that no modules import each other in a circle.

All imports count: those inside functions and under TYPE_CHECKING too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
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
    {"testing", "pytest", "scenarios"},
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
    for node in ast.walk(tree_of(module)):
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


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def names_imported(module: str, tree: ast.Module) -> Iterator[tuple[ast.ImportFrom, str, ast.alias]]:
    """Each name of a `from ... import`, with the module that is meant: that of the name if it is one."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias, name in zip(node.names, _imported(node, package), strict=True):
                yield node, name, alias


def modules_imported(module: str, tree: ast.Module) -> dict[str, str]:
    """By the expression that stands for it in this module: each module of ours that it imports as such."""
    found = {
        alias.asname or alias.name: name
        for node, name, alias in names_imported(module, tree)
        if name in MODULES and name.endswith("." + alias.name) and name != node.module  # not `run` of the module `run`
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update((alias.asname or alias.name, alias.name) for alias in node.names if alias.name in MODULES)
    return found


def classes_imported(module: str, tree: ast.Module) -> dict[str, str]:
    """By their names in this module: the classes of ours that it imports."""
    return {
        alias.asname or alias.name: f"{name}.{alias.name}"
        for _, name, alias in names_imported(module, tree)
        if name in MODULES
        and any(isinstance(node, ast.ClassDef) and node.name == alias.name for node in tree_of(name).body)
    }


def attributes_of_modules(module: str, tree: ast.Module) -> Iterator[tuple[ast.Attribute, str]]:
    """Each `other.name` where `other` is a module of ours, with that module."""
    imported = modules_imported(module, tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in imported:
            yield node, imported[ast.unparse(node.value)]


def assigned_elsewhere(module: str, tree: ast.Module) -> Iterator[str]:
    """Where the module assigns or deletes a name of another module, or an attribute of a class that it imports."""
    others = modules_imported(module, tree) | classes_imported(module, tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=owner, ctx=ast.Store() | ast.Del()):
                pass
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, *_]):
                pass
            case ast.Subscript(value=namespace, ctx=ast.Store() | ast.Del()) if owner := _owner(namespace):
                pass
            case ast.Call(func=ast.Attribute(value=namespace, attr=name)) if name in _CHANGING:
                owner = _owner(namespace)
            case _:
                continue
        if owner is not None and ast.unparse(owner) in others:
            yield f"{module}:{node.lineno} assigns a name of {others[ast.unparse(owner)]}"


_CHANGING = {"update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__"}


def _owner(namespace: ast.expr) -> ast.expr | None:
    """What `vars(...)` or `....__dict__` is the namespace of."""
    match namespace:
        case ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return owner
        case ast.Attribute(value=owner, attr="__dict__"):
            return owner
    return None


@cache
def private_names() -> dict[str, set[str]]:
    """By name: the packages that define it as a private name, of a module or of objects."""
    found: dict[str, set[str]] = {}
    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                    pass
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    pass
                case _:
                    continue
            if name.startswith("_") and not name.startswith("__"):
                found.setdefault(name, set()).add(package_of(module))
    return found


OF_THE_LIBRARY = {"_fields", "_loop", "_make", "_replace"}
"""Names with an underscore that objects of the library have as well."""


def private_elsewhere(module: str, tree: ast.Module) -> Iterator[str]:
    """Where the module uses a private name of an object that only other packages define."""
    defined = private_names()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls"):
            packages = defined.get(node.attr)
            if packages and package_of(module) not in packages and node.attr not in OF_THE_LIBRARY:
                yield f"line {node.lineno}: {ast.unparse(node)}, of {' or '.join(sorted(packages))}"


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
    assert not [*assigned_elsewhere(module, tree_of(module))]


@pytest.mark.parametrize(
    "source",
    [
        "from dpor.python.kernel import unwinding\nunwinding.MOST_UNWINDING = 5",
        "import dpor.python.kernel.unwinding as m\nm.PATIENCE = 5",
        "import dpor.python.kernel.unwinding\ndpor.python.kernel.unwinding.MOST_UNWINDING += 5",
        "from dpor.python.kernel import unwinding\ndel unwinding.MOST_UNWINDING",
        "from dpor.python.kernel import unwinding\nsetattr(unwinding, 'PATIENCE', 5)",
        "from dpor.python.kernel import unwinding\nvars(unwinding)['PATIENCE'] = 5",
        "from dpor.python.kernel import unwinding\nunwinding.__dict__.update(PATIENCE=5)",
        "from dpor.python.kernel.model_thread import ModelThread\nModelThread.running = True",
        "from dpor.python.kernel.run import CurrentRun\nsetattr(CurrentRun, 'begin', None)",
    ],
)
def test_each_way_of_assigning_names_of_another_module_is_seen(source: str) -> None:
    assert [*assigned_elsewhere("dpor.python.program.system", ast.parse(source))]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_private_names_are_used_in_their_package_only(module: str) -> None:
    """A name that begins with `_` may be used by the modules beside its own."""
    tree = tree_of(module)
    uses = [(node.lineno, other, node.attr) for node, other in attributes_of_modules(module, tree)]
    for node, other, alias in names_imported(module, tree):
        if other in MODULES:
            uses.append((node.lineno, other, alias.name))
    wrong = [
        f"line {line}: {other}.{name}"
        for line, other, name in uses
        if name.startswith("_") and not name.startswith("__")
        if package_of(other) != package_of(module)
    ]
    wrong += private_elsewhere(module, tree)
    assert not wrong, f"{module} uses what is private elsewhere: {'; '.join(wrong)}"


def test_a_private_name_used_through_an_object_of_another_package_is_seen() -> None:
    planted = ast.parse("def code(thread: Startable) -> object:\n    return thread._bootstrap.__code__")
    assert [*private_elsewhere("dpor.python.program.system", planted)]


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
        "dpor.cli.lincheck",
        "dpor.cli.options",
        "dpor.cli.workloads",
        "dpor.cli.completing",
        "dpor.report.text",
        "dpor.report.progress",
        "dpor.core.schedule",
    ):
        tree = tree_of(module)
        at_once = {name for node in tree.body for name in _imported(node, module)}
        assert not at_once & late, f"{module} imports {at_once & late} at its top"
