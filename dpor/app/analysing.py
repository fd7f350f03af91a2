"""The static analysis of a target, for `dpor analyze`. It prints nothing: see `dpor.cli.analyze`."""

from __future__ import annotations

from collections.abc import Mapping

from dpor.app.targets import open_target
from dpor.core.errors import UserError
from dpor.core.options import FieldAccess, Options, PointerAnalysis
from dpor.core.schedule import relative
from dpor.python.program.system import PythonSystem
from dpor.report.analysis import Analysis, FunctionAccesses, JudgedAccess, MutableField
from dpor.statics.facts import Facts, analyse
from dpor.statics.field_access import Precision
from dpor.statics.pointers import Pointers
from dpor.statics.relevance import judge


def analyze(
    target: str, field_access: FieldAccess, pointers: PointerAnalysis, instrument: tuple[str, ...] = ()
) -> tuple[Analysis, Mapping[str, str]]:
    """Analyse the target. Return the facts, and the sources of its files by path. Loads the program, but runs only its
    modules.

    Raises `UserError` if the target cannot be loaded or is not Python.
    """
    if target.endswith((".json", ".jsonl")):
        raise UserError(f"{target}: only Python programs are analysed: path/file.py::name or package.module:name")
    system = open_target(target, Options(instrument=instrument))
    assert isinstance(system, PythonSystem)
    source = system.source()
    texts = {relative(path): text for path, text in source.texts.items()}
    names = {relative(path): name for path, name in source.names.items()}
    path, _, name = source.entry.partition("::")
    entry = f"{relative(path)}::{name}"
    facts = analyse(texts, entry, Pointers(pointers.value), names)
    return _report(target, entry, field_access, pointers, facts, tuple(texts)), texts


def _report(
    target: str, entry: str, field_access: FieldAccess, pointers: PointerAnalysis, facts: Facts, files: tuple[str, ...]
) -> Analysis:
    until_return = {
        (instance.function.path, instance.function.line, instance.function.name): facts.until_return(number)
        for number, instance in enumerate(facts.points_to.instances)
        if instance.function.path
    }
    return Analysis(
        target=target,
        entry=entry,
        field_access=field_access.value,
        pointers=pointers.value,
        files=files,
        unknown=facts.unknown,
        immutable=tuple(sorted(map(str, facts.immutable))),
        mutable=tuple(MutableField(str(field), *reason) for field, reason in sorted(facts.mutable.items())),
        functions=tuple(
            FunctionAccesses(*key, tuple(sorted(map(str, found)))) for key, found in sorted(until_return.items())
        ),
        accesses=tuple(
            JudgedAccess(
                path=each.path,
                **each.position._asdict(),
                function=each.function,
                mode=each.access.mode,
                field=str(each.access.field),
                of=each.access.of,
                label=each.label.value,
                why=each.why,
            )
            for each in judge(facts, Precision(field_access.value))
        ),
        dot=facts.dot(),
    )
