"""The programs of `workloads/`, by name: `daisy`, `daisy:bug`, `daisy:bug,length=2`. Reads their source, imports none.

After the colon come arguments of the module's `main`: a name alone means True, others are numbers.
"""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from pathlib import Path

import attrs

from dpor.core.errors import BadTarget
from dpor.core.home import HOME

FOLDER = Path(HOME, "workloads")
LARGER = ("cocome", "credemo", "daisy", "raytracer", "elevator", "jpapabench", "cdx", "simplejbb")
"""Re-creations of the programs that [PL] measures, in the order of its tables."""


@attrs.frozen
class Workload:
    """One program.

    about        a description of one line
    parameters   the parameters of its `main`, with their defaults
    """

    name: str
    about: str
    parameters: dict[str, int]

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.py"

    @property
    def usage(self) -> str:
        """
        >>> workloads()["elevator"].usage
        'bug,lifts=2,operations=1,calls=1'
        """
        flags = [name for name, default in self.parameters.items() if isinstance(default, bool)]
        return ",".join(flags + [f"{name}={n}" for name, n in self.parameters.items() if name not in flags])


@cache
def workloads() -> dict[str, Workload]:
    """Return all workloads by name, the larger ones first."""
    names = {path.stem for path in FOLDER.glob("[a-z]*.py")}
    return {name: _read(name) for name in (*LARGER, *sorted(names - {*LARGER}))}


def _read(name: str) -> Workload:
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    main = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    defaults = [ast.literal_eval(default) for default in main.args.defaults]
    about = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Workload(name, about, dict(zip([each.arg for each in main.args.args], defaults, strict=True)))


def named(target: str) -> tuple[Workload, dict[str, int]] | None:
    """Return the workload that the target names and the arguments of its `main`; None if the target names none.

    A module that can be imported by that name takes precedence. Raises `BadTarget` if the current folder has a file of
    that name, which could be meant, or if an argument is wrong.

    >>> found = named("daisy:bug,length=2")
    >>> found[0].name, found[1]
    ('daisy', {'bug': True, 'length': 2})
    >>> named("daisy:size=3")
    Traceback (most recent call last):
    dpor.core.errors.BadTarget: daisy:size=3: daisy has no 'size'; it takes bug,threads=2,length=1,files=0
    >>> named("daisy:threads=0")
    Traceback (most recent call last):
    dpor.core.errors.BadTarget: daisy:threads=0: threads must be 1 or more, not 0
    """
    name, colon, text = target.partition(":")
    if not name.isidentifier() or not (FOLDER / f"{name}.py").is_file():
        return None
    here = [path for path in (Path(name), Path(f"{name}.py")) if path.exists()]
    if colon and (here or importlib.util.find_spec(name) is not None):
        return None
    if here:
        raise BadTarget(
            f"{target} names a workload, and {here[0]} lies here: say {name}.py::NAME or dpor.workloads.{name}:main"
        )
    workload = _read(name)
    arguments: dict[str, int] = {}
    for each in text.split(",") if text else ():
        argument, value = _argument(workload, each, target)
        if argument in arguments:
            raise BadTarget(f"{target}: {argument} is given twice")
        arguments[argument] = value
    return workload, arguments


def _argument(workload: Workload, text: str, target: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    default = workload.parameters.get(name)
    if default is None:
        raise BadTarget(f"{target}: {workload.name} has no {name!r}; it takes {workload.usage or 'nothing'}")
    if isinstance(default, bool) and not equals:
        return name, True
    if isinstance(default, bool) or not number.isdecimal():
        usage = name if isinstance(default, bool) else f"{name}={default}"
        raise BadTarget(f"{target}: {workload.name} takes {usage}, not {text}")
    if default and not int(number):
        raise BadTarget(f"{target}: {name} must be 1 or more, not {number}")
    return name, int(number)
