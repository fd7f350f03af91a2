"""Loads the program: an import hook that instruments its modules, and restores their first state before each run.

The program's own modules (the target's file, the project that it lies in, packages named with `--instrument`, and those
that runs have shown to act) are compiled from rewritten source. Everything else is imported as usual, but separately
from the host's modules (see `sides`). The `__builtins__` of the program's modules has an `__import__` that returns the
drop-ins of `threading`, `queue` and the like.

Imports happen once. Before every run the modules' code is executed again in the same module objects, in the order in
which that happened first, unless nothing that outlives a run can have been changed: see `import_once`.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpor.core.errors import BadTarget
from dpor.python.dropins import enums, generating, logs, loops, module_locks, outside, process_parts
from dpor.python.dropins.importing import import_statement, look_for, look_up_parts, taken_from
from dpor.python.effects import process_state
from dpor.python.effects.accesses import yield_before
from dpor.python.effects.dicts import writes_key
from dpor.python.kernel import opaque_code
from dpor.python.kernel.classes import imported_as, is_a, module_named_by, namespace_of
from dpor.python.kernel.host_modules import DropInModule, shadow
from dpor.python.kernel.library import CLOSED, CONSTANT, STDLIB
from dpor.python.kernel.run import run
from dpor.python.program import afterlife
from dpor.python.program.border import Border, folder_to_import_from
from dpor.python.program.counterparts import Counterparts
from dpor.python.program.library_parts import LibraryParts
from dpor.python.program.library_tables import LibraryTables
from dpor.python.program.program_module import ProgramModule, instrumented_code
from dpor.python.program.sides import Sides, homes_of
from dpor.python.sharing import class_state, host_fields, shared_objects
from dpor.python.sharing.sharing_state import sharing

if TYPE_CHECKING:
    from dpor.python.program.host import HostState

_WITH_STATE = ("logging", "warnings", "os", "builtins", "concurrent")  # the pools of the last one log
_NONE = types.ModuleType("none")
_IN_PYTHON = (".py", ".pyc")


class Loader:
    """The program's modules. `hooks(module name)` returns the names that instrumented code needs in its globals."""

    def __init__(
        self,
        hooks: Callable[[str], dict[str, Any]],
        module_for_program: Callable[[str], types.ModuleType | None],
        instrument_packages: Sequence[str] = (),
    ) -> None:
        self._hooks = hooks
        self._module_for_program = module_for_program
        self.border = Border(instrument_packages)
        self._files: set[str] = set()
        self.unhooked: frozenset[str] = frozenset()
        self.modules: dict[str, ProgramModule] = {}
        self.counterparts = Counterparts(self.modules)
        self.sources: dict[str, str] = {}
        self.visible_globals: dict[str, frozenset[str]] = {}
        self.numbers = False  # also hook operators with a number literal
        self.starting: frozenset[str] = frozenset()  # modules that start threads when they are imported
        self._sides = Sides(self._is_of_program)
        self._parts = LibraryParts(self._sides.host_module)
        self._has_loops = False  # does the program import `asyncio`?
        self._named: list[process_state.Kept] = []  # objects in others' modules that the source names
        self.tables = LibraryTables(self.modules, lambda: {**sys.modules, **self._sides.program})
        self._kept_by_classes: frozenset[str] = frozenset()  # likewise, names of what classes keep for the library
        self._builtins = shadow(builtins, __import__=self._import)  # the program sees its own changes alone
        self.visible_builtins: frozenset[str] = frozenset()
        self._finder = _Finder(self)
        self._found: set[str] = set()  # modules without hooks, in Python, that runs were about to import
        self._late: set[str] = set()  # modules that runs import, and that are not loaded when a run begins
        self._paths: list[tuple[list[str], list[str]]] = []  # the `__path__` of packages, and what it was at first
        self._settled = False
        self._watching = ExitStack()  # what lasts until the run ends
        self.host: HostState | None = None  # set when the program imports a module whose state it may change

    # ------------------------------------------------------------------ which modules there are

    def start_over(self) -> None:
        """Between runs: forget all modules, because other packages are instrumented now."""
        self.modules.clear()
        self.sources.clear()
        self._files.clear()
        self.counterparts.forget()
        self._late.clear()
        self._paths.clear()
        self._settled = False
        self._sides.forget()
        self.tables.forget()

    def settle(self) -> None:
        """Called when the program is loaded: what is imported from now on is imported by its runs."""
        self._settled = True
        self._sides.settle()

    def imports_in_steps(self, name: str) -> bool:
        """Called by an import while the program runs. True if it is a module of the program that was not loaded when
        the run began."""
        if imported_as(sys.modules.get(name)) == name:
            return name in self._late
        package, kept = name.rpartition(".")[0], name in self.modules and name not in self._late
        if not self._settled or kept or name.partition(".")[0] in STDLIB or (package and package not in sys.modules):
            return False
        look_for(name, self._path_of(package))
        return self._inside(name, self._path_of(package)) is not None

    def is_late(self, name: str) -> bool:
        """True if runs import the module: each of them looks for it."""
        return name in self._late

    def _path_of(self, package: str) -> Any:
        """Return where the modules of the package are: None for `sys.path`, nowhere if it is no package."""
        return namespace_of(sys.modules.get(package)).get("__path__", ()) if package else None

    def _inside(self, name: str, path: Any) -> importlib.machinery.ModuleSpec | None:
        """Return what is found under the name if it is the program's."""
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        return None if spec is None or not self.border.is_inside(name, spec.origin) else spec

    def drop_late(self) -> None:
        """Between runs: remove what earlier ones have imported, and have changed in where packages are."""
        for path, folders in self._paths:
            if path != folders:
                path[:] = folders
        self._sides.drop(self._late)
        for name in self._late & self.modules.keys():
            self.modules[name].begin_again()

    def can_instrument(self, package: str) -> bool:
        """While the program runs: True if the package is not instrumented, but its source is available."""
        if any(name.partition(".")[0] == package for name in self.modules):
            return False
        module = sys.modules.get(package)
        if module is None:
            return package in self._found
        file = namespace_of(module).get("__file__")
        return "__path__" in namespace_of(module) if file is None else str(file).endswith(".py")

    def lacks_hooks(self, module: str) -> bool:
        """While the program runs: True if the module is in Python and not instrumented, whether it could be or not."""
        if module == "collections.abc" and sys.version_info >= (3, 14) and "collections" in self.modules:
            return False  # it is no file of its own, and its methods have instrumented copies (`dropins/mixins.py`)
        file = namespace_of(sys.modules.get(module)).get("__file__")
        return module not in self.modules and str(file).endswith(_IN_PYTHON)

    def _is_of_program(self, name: str) -> bool:
        """True if the module of this name, wherever it is, is instrumented."""
        return name in self.modules or self.border.is_chosen(name)

    def is_program_file(self, filename: str) -> bool:
        """True if this is the file of an instrumented module, as its code objects name it."""
        return filename in self._files

    # ------------------------------------------------------------------ importing

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Context in which the program runs or is loaded: its imports go through this loader, and its modules are in
        `sys.modules`."""
        self.drop_late()
        sys.meta_path.insert(0, self._finder)
        self._sides.enter()
        self._watch_named()
        try:
            looping = loops.Apart(self._has_loops, self._module_for_program)
            with outside.watched, generating.watched, self._watching, looping:
                self._watch_logs()
                yield
        finally:
            sys.meta_path.remove(self._finder)
            self._sides.leave()

    def hide_host(self) -> None:
        """While the program runs: take the host's modules out of `sys.modules`, as the first import does."""
        self._sides.hide_host()

    def _watch_named(self) -> None:
        if any(found.name == "modules" for found in self._named):  # the program may look at `sys.modules`
            self._sides.hide_host()
        process_state.watch([*self._named, *self.tables.watched])
        class_state.watch(self._kept_by_classes)
        if self._kept_by_classes:
            self._watching.enter_context(enums.watched())

    def restore_host(self) -> None:
        """After a run: restore what the program has changed in the process, and in modules that it shares with the
        host."""
        host_fields.restore()
        if self.host is not None:
            self.host.restore()
        process_state.restore()

    def _watch_logs(self) -> None:
        if self.host is not None:
            self._watching.enter_context(logs.watched(self._module_for_program("threading")))

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> types.ModuleType:
        if self.host is None and name.partition(".")[0] in _WITH_STATE:
            from dpor.python.program.host import HostState

            self.host = HostState()
            self._watch_logs()
        if name.partition(".")[0] == "asyncio":
            self._has_loops = True
            loops.watch_asyncio(self._module_for_program)
        self._sides.hide_host()
        if name == "builtins":
            return self._builtins
        module = import_statement(self._module_for_program, name, globals, locals, fromlist, level)
        if not level and self.tables.note_import(name, fromlist):
            self._watch_named()
            if sharing.roots_published:
                process_state.share_objects()
        if not fromlist:
            look_up_parts(name)
            return module
        found = taken_from(module, fromlist) if run.multi and not isinstance(module, DropInModule) else module
        return found if found is not module else self._names_of_program(run.above.replacement_for(module), fromlist)

    def _names_of_program(self, module: types.ModuleType, names: Iterable[str]) -> types.ModuleType:
        """Return what `from module import names` takes the names from: the module itself, or a copy in which modules of
        the library are replaced by those that the program gets for them."""
        found = vars(module) if type(module) is types.ModuleType else {}
        others = {}
        for name in names:
            if type(found.get(name)) in (types.ModuleType, dict):
                given = run.above.replacement_for(found[name])
                if given is not found[name]:
                    others[name] = given
        if not others:
            return module
        taken = types.ModuleType(module.__name__)
        vars(taken).update(found, **others)
        return taken

    def load_file(self, file: Path) -> types.ModuleType:
        """Load the file as a module. Its name is the dotted name if it lies in a package, else its stem."""
        file = file.resolve()
        self.border.set_root(file)
        directory = folder_to_import_from(file)
        parts = [*file.parent.relative_to(directory).parts, file.stem]
        if parts[-1] == "__init__":
            parts.pop()
        if str(directory) not in sys.path:
            sys.path.insert(0, str(directory))
        name = ".".join(parts)
        if name in STDLIB or name in CLOSED:
            name = f"__target_{name}__"
        if "." in name:
            return self.load_name(name)
        if name in self.modules and self.modules[name].file != file:
            name = f"__{name}_{len(self.modules)}__"  # two files of one name in different folders
        loader = _InstrumentingLoader(self, name, str(file))
        spec = importlib.util.spec_from_file_location(name, file, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loader.exec_module(module)
        return module

    def exists(self, package: str) -> bool:
        """True if a package or module of this name can be imported."""
        top = package.partition(".")[0]
        return package in self.modules or (top.isidentifier() and importlib.util.find_spec(top) is not None)

    def note_late(self, name: str) -> None:
        """Called when a module is made or executed for the first time: note it as late if a run does that."""
        if self._settled and name.partition(".")[0] not in STDLIB:
            self._late.add(name)

    def note_without_hooks(self, name: str, spec: importlib.machinery.ModuleSpec | None) -> None:
        """Called before a module without hooks is imported. While several threads exist, that is code of a thread."""
        self._sides.remember_library(name)
        if run.multi and spec is not None and name.partition(".")[0] not in STDLIB and str(spec.origin).endswith(".py"):
            self._found.add(name)
            opaque_code.demand(name, f"{name} is imported while several threads exist")

    def note_in_c(self, module: types.ModuleType) -> None:
        """Called when a module in C has been executed."""
        self._sides.remember_in_c(module)

    def yield_before_entering(self, name: str) -> None:
        """Yield before a module is put into `sys.modules`, where other threads may look for it, or is removed."""
        if run.multi:
            shared = shared_objects.shared_object_of(sys.modules)
            if shared is not None:
                yield_before("write", writes_key(shared, sys.modules, name))

    def yield_before_binding(self, name: str) -> None:
        """Yield before a module becomes an attribute of its package."""
        package, _, part = name.rpartition(".")
        if run.multi and package and name in self._late:
            from dpor.python.hooks import attributes

            attributes.write_global(package, part)

    def share_exceptions(self, name: str, module: types.ModuleType) -> None:
        """Let an instrumented module of the library raise the exceptions of the host's: the program catches those,
        because uninstrumented code raises them."""
        if name.partition(".")[0] in self.border.acting & STDLIB:
            for other, value in vars(self._sides.host_module(name) or _NONE).items():
                if is_a(value, type) and issubclass(value, BaseException):
                    module.__dict__[other] = value

    def instrumented_copy(self, plain: types.FunctionType) -> types.ModuleType | None:
        """Return the instrumented copy of the module in which a function of the host was defined; None if it is not the
        program's."""
        file = Path(plain.__code__.co_filename)
        if not file.is_file() or not self.border.is_inside(plain.__module__, str(file)):
            return None
        file = file.resolve()
        known = next((loaded.module for loaded in self.modules.values() if loaded.file == file), None)
        if known is not None:
            return known
        settled, self._settled = self._settled, False  # the host has imported it, so it is not late
        try:
            return self.load_host_file(file, plain.__module__)
        finally:
            self._settled = settled

    def load_host_file(self, file: Path, host: str) -> types.ModuleType:
        """Load an instrumented copy of a module that the host has imported already."""
        if host != "__main__" and "." in host:
            self.border.set_root(file)
            spec = importlib.util.find_spec(host)
            if spec is not None and spec.origin is not None and Path(spec.origin).resolve() == file.resolve():
                self.border.include_module(host)
                return self.load_name(host)
        return self.load_file(file)

    def host_file(self, name: str) -> str:
        """While the program is loaded: return the file of the module that the host knows by this name, or ""."""
        module = self._sides.host_module(name) or sys.modules.get(name)
        return str(namespace_of(module).get("__file__") or "")

    def load_name(self, name: str) -> types.ModuleType:
        """Load the module of this name."""
        return importlib.import_module(name)

    def compile(self, name: str, path: str, module: types.ModuleType, content: bytes) -> ProgramModule:
        """Compile the content of a file, instrumented, for this new module. Raises `BadTarget` if it is not Python."""
        try:
            loaded = ProgramModule(module, importlib.util.decode_source(content), path)
        except SyntaxError as error:
            place = path if error.lineno is None else f"{path}:{error.lineno}"
            raise BadTarget(f"{place}: {error.msg}") from None
        except ValueError as error:
            raise BadTarget(f"{path}: {error}") from None
        if name.partition(".")[0] not in STDLIB:
            loaded.refuse_lazy_imports()
        self._files.add(path)
        self.sources[path] = sha256(content).hexdigest()
        self._prepare(name, loaded)
        named, kept = process_state.named_in([loaded.source]), class_state.named_in(loaded.source)
        if name.partition(".")[0] in STDLIB:
            kept = frozenset()
            if not any(found.is_cache for found in named):
                named = []
        named, kept = [found for found in named if found not in self._named], kept - self._kept_by_classes
        if named or kept:
            self._named += named
            self._kept_by_classes |= kept
            self._watch_named()
        self.modules.pop(name, None)
        return loaded

    def _prepare(self, name: str, loaded: ProgramModule) -> None:
        """Set the module's code and its first globals, by the present facts."""
        visible = self.visible_globals.get(name, frozenset()) | self.visible_builtins
        loaded.code = instrumented_code(
            loaded.source,
            loaded.path,
            visible_globals=visible,
            numbers=self.numbers,
            starts_threads=name in self.starting or name in self._late,
            unhooked=self.unhooked,
        )
        loaded.module.__dict__.update(self._hooks(name), __builtins__=vars(self._builtins))
        if name in self._late:
            store = loaded.module.__dict__[".gstore"]
            loaded.module.__dict__[".gstore"] = _storing_late(store)
        loaded.first = dict(loaded.module.__dict__)
        path = loaded.first.get("__path__")
        if type(path) is list and all(path is not known for known, _ in self._paths):
            self._paths.append((path, [*path]))

    # ------------------------------------------------------------------ between runs

    def renew(self) -> None:
        """Compile all modules again with the globals that are visible now, because the facts have changed."""
        self.counterparts.forget()
        for name, loaded in self.modules.items():
            loaded.module.__dict__.clear()
            kept = {k: v for k, v in loaded.first.items() if k.startswith(("__", ".")) and k != "__builtins__"}
            loaded.module.__dict__.update(kept)  # the hooks, too: finalisers of earlier runs may be called meanwhile
            self._prepare(name, loaded)

    def reset(self, changed: bool) -> None:
        """Import the modules again, in the order of the first time, circles included, each with its first globals.
        Modules of the library, which import none of the others, are included only if something at the top level of a
        module was `changed`."""
        names = [name for name in self.kept_modules() if changed or name.partition(".")[0] not in CONSTANT]
        names_again = {name for name in names if name.partition(".")[0] not in STDLIB}
        self.tables.drop(lambda value: not names_again.isdisjoint(homes_of(value)))
        stale = self._sides.drop_stale(names)
        for name in [name for name in self._sides.program if self.is_made_by_program(name)]:
            sys.modules.pop(name, None)
        for name in names:
            sys.modules.pop(name, None)
            package, _, part = name.rpartition(".")
            if package in sys.modules and package not in self.modules:  # a namespace package, which nothing executes
                namespace_of(sys.modules[package]).pop(part, None)
        for name in names:
            if name not in sys.modules:
                importlib.import_module(name)
        if stale:
            process_state.imported_again(stale)
        module_locks.forget()

    def kept_modules(self) -> list[str]:
        """Return the names of the modules that exist when a run begins."""
        return [name for name in self.modules if name not in self._late]

    @property
    def size(self) -> int:
        """The characters of the source that `reset` executes even if nothing was changed at the top level."""
        names = [name for name in self.kept_modules() if name.partition(".")[0] not in CONSTANT]
        return sum(len(self.modules[name].source) for name in names)

    def is_made_by_program(self, name: str) -> bool:
        """True if code of the program has put the module into `sys.modules`, directly or by an importer of its own."""
        module = sys.modules.get(name)
        if module is None or name in self.modules or name.rpartition(".")[0] not in self.modules:
            return False
        spec = namespace_of(module).get("__spec__")
        return spec is None or type(spec.loader).__module__ in self.modules

    def executing(self, name: str, module: types.ModuleType) -> AbstractContextManager[None]:
        """Context in which the module is executed."""
        of_library = name.partition(".")[0] in self.border.acting & STDLIB
        return self._parts.executing(name, module) if of_library else nullcontext()

    def clear(self) -> None:
        """Release all that the modules hold, and make the library forget them: another program is checked next."""
        self.tables.restore()
        self._sides.forget(left=True)
        for loaded in self.modules.values():
            afterlife.release(loaded.module.__dict__)
            loaded.first.clear()
        afterlife.be_silent_from_now_on()

    @property
    def is_constant(self) -> bool:
        """True if no run can by itself change anything at the top level of the modules."""
        return False not in [loaded.import_once for name, loaded in self.modules.items() if name not in self._late]

    def foreign(self) -> list[str]:
        """Return the top packages of what the modules' globals hold, without the program's and the library's."""
        homes = {
            _home(value).partition(".")[0]
            for loaded in self.modules.values()
            for key, value in loaded.module.__dict__.items()
            if not key.startswith((".", "__"))
        }
        return sorted(homes - {name.partition(".")[0] for name in self.modules} - STDLIB - {"dpor", "pytest"})

    def imported(self) -> dict[str, str]:
        """Return the files of all modules that the program has imported, by name, without the library's and ours."""
        return self._sides.files()

    def roots(self, of_all: bool) -> Iterator[tuple[Any, Any]]:
        """Yield the roots of the program's objects, each as (name, object): the values of globals and the attributes of
        classes, which every thread can reach. `of_all`: of all globals, not only of those that a run can change."""
        yield from host_fields.roots()
        for name, loaded in self.modules.items():
            yield from loaded.roots(name, of_all)

    def late_roots(self) -> Iterator[tuple[Any, Any]]:
        """Yield those that do not exist when a run begins."""
        process_state.share_objects()
        yield from host_fields.roots()
        for name in self._late & self.modules.keys():
            yield from self.modules[name].roots(name, run.dirty)


def _home(value: Any) -> str:
    """Return the name of the module that an object comes from."""
    if is_a(value, types.ModuleType):
        return str(value.__name__)
    return module_named_by(value if is_a(value, (type, types.FunctionType, types.BuiltinFunctionType)) else type(value))


def _storing_late(store: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """Return the hook that stores a global of a module that is not loaded when the next run begins. So the store does
    not set `run.dirty`."""

    def gstore(name: str, value: Any) -> Any:
        dirty = run.dirty
        value = store(name, value)
        run.dirty = dirty
        return value

    return gstore


class _Finder:
    """Finds the program's modules before any other finder does."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        known = self._loader.modules.get(name)
        if known is not None and not self._loader.is_late(name):
            return known.first["__spec__"]
        look_for(name, path)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not self._loader.border.is_inside(name, spec.origin):
            self._loader.note_without_hooks(name, spec)
            if spec is None or type(spec.loader) is not importlib.machinery.ExtensionFileLoader:
                return None
            spec.loader = _LoaderOfC(self._loader, name, spec.loader.path)
            return spec
        spec.loader = _InstrumentingLoader(self._loader, name, str(spec.origin), spec.loader)
        return spec


class _LoaderOfC(importlib.machinery.ExtensionFileLoader):
    """Loads a module in C, and has the attributes of its classes remembered."""

    def __init__(self, loader: Loader, name: str, path: str) -> None:
        super().__init__(name, path)
        self._loader = loader

    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        self._loader.note_in_c(module)


class _InstrumentingLoader(importlib.machinery.SourceFileLoader):
    """Executes instrumented code. Source and neighbouring files come from the `plain` loader: that of a module in an
    archive looks into the archive."""

    def __init__(self, loader: Loader, name: str, path: str, plain: Any = None) -> None:
        super().__init__(name, path)
        self._loader = loader
        self._name = name
        self._path = path
        self._plain = plain

    def get_data(self, path: str) -> bytes:
        return super().get_data(path) if self._plain is None else self._plain.get_data(path)

    def get_resource_reader(self, name: str | None = None) -> Any:
        find = super().get_resource_reader if self._plain is None else self._plain.get_resource_reader
        return find(name)

    def create_module(self, spec: Any) -> types.ModuleType | None:
        self._loader.yield_before_entering(self._name)
        loaded = self._loader.modules.get(self._name)
        if loaded is None:
            self._loader.note_late(self._name)
            return None
        loaded.begin_again()
        return loaded.module

    def exec_module(self, module: types.ModuleType) -> None:
        modules = self._loader.modules
        loaded = modules.get(self._name)
        first = loaded is None or loaded.module is not module
        if first:
            self._loader.note_late(self._name)
            loaded = self._loader.compile(self._name, self._path, module, self.get_data(self._path))
            modules[self._name] = loaded
        assert loaded is not None
        assert loaded.code is not None
        with self._loader.executing(self._name, module):
            try:
                exec(loaded.code, module.__dict__)
            except BaseException:
                if first:  # else a run ended while executing it, and the next one imports it again
                    modules.pop(self._name, None)
                self._loader.yield_before_entering(self._name)  # the import system removes it now
                raise
            module.__dict__.update(process_parts.replaced(self._name, module.__dict__))
            self._loader.share_exceptions(self._name, module)
        if sharing.roots_published:  # else it is among the roots
            shared_objects.made(lambda: [root for _, root in loaded.roots(self._name, run.dirty)])
        self._loader.yield_before_binding(self._name)
