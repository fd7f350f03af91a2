"""The operations of a class: methods, each with the arguments that scenarios call it with.

Arguments come from values or strategies of Hypothesis that the user gives, otherwise from type hints. Of a parameter
without a hint, or with one that says nothing, nobody knows what the method does with it, so its values are taken to be
*names*: a scenario is alike to another that has other names in the same places.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

import attrs

from dpor.core.errors import UserError

MOST_VALUES: Final = 3
"""Values of the only parameter of a method; if there are several, each has one less, and ..."""
MOST_ARGUMENTS: Final = 6
"""... so many combinations are taken."""
NAMES: Final = ("a", "b", "c")
_VALUES: Final[dict[object, tuple[Any, ...]]] = {
    int: (0, 1, 2),
    bool: (False, True),
    str: ("a", "b", ""),
    float: (0.0, 1.0, -0.5),
    bytes: (b"a", b"b", b""),
    type(None): (None,),
    list: ([], [0], [0, 1]),
    tuple: ((), (0,), (0, 1)),
    dict: ({}, {"a": 0}),
    set: (set(), {0}),
}
_SAYS_NOTHING: Final = (inspect.Parameter.empty, Any, object)


@attrs.frozen
class Call:
    """A call in a scenario: a method and its arguments; `names` are the places of those that are names."""

    method: str
    args: tuple[Any, ...] = attrs.field(default=(), eq=repr)
    names: tuple[int, ...] = ()
    apart: str | None = None

    def __str__(self) -> str:
        return f"{self.method}({', '.join(map(repr, self.args))})"

    @property
    def key(self) -> tuple[str, str]:
        """Equal for calls that do the same."""
        return self.method, repr(self.args)

    def renamed(self, names: dict[str, str]) -> Call:
        """Return the call with other names: those of the dict, in which new ones are given in order."""
        if not self.names:
            return self
        args = [
            names.setdefault(arg, NAMES[len(names)]) if place in self.names else arg
            for place, arg in enumerate(self.args)
        ]
        return attrs.evolve(self, args=tuple(args))


@attrs.frozen
class NamedOperation:
    """What the user says of an operation: see `operation`."""

    name: str
    arguments: tuple[Any, ...]
    apart: str | None


Operation: TypeAlias = "str | NamedOperation | Callable[..., Any]"


def operation(name: Operation, *arguments: Any, apart: str | None = None) -> NamedOperation:
    """Name an operation for `dpor.concurrent`: a method, with the arguments that it is to be called with.

    `arguments`: one for each parameter, a strategy of Hypothesis or a list of values; none: from the type hints.
    `apart`: a word; operations with the same word are not called by two threads (a queue with a single consumer).
    """
    return NamedOperation(_name_of(name), arguments, apart)


def _name_of(given: Operation) -> str:
    if isinstance(given, NamedOperation):
        return given.name
    name = given if isinstance(given, str) else getattr(given, "__name__", None)
    if not isinstance(name, str):
        raise UserError(f"an operation is a method or its name, not {given!r}")
    return name


def calls_of(kind: type, operations: Sequence[Operation]) -> list[Call]:
    """Return the calls that scenarios of this class consist of. Without operations: those of all public methods."""
    given = [each if isinstance(each, NamedOperation) else operation(each) for each in operations]
    if not given:
        given = [operation(name) for name in _public_methods(kind)]
    if not given:
        raise UserError(f"{kind.__name__} has no public methods: name its operations")
    return [call for each in given for call in _calls(kind, each)]


def _public_methods(kind: type) -> list[str]:
    """Return the names of its public methods, those of its own first, in the order of the source."""
    names: dict[str, None] = {}
    for base in kind.__mro__[:-1]:
        for name, held in vars(base).items():
            if not name.startswith("_") and inspect.isfunction(held):
                names[name] = None
    return [*names]


def _calls(kind: type, given: NamedOperation) -> Iterator[Call]:
    method = getattr(kind, given.name, None)
    if not callable(method):
        raise UserError(f"{kind.__name__} has no method {given.name!r}; it has {', '.join(_public_methods(kind))}")
    parameters = _parameters(kind, given.name, method)
    if given.arguments:
        if parameters is not None and len(given.arguments) > len(parameters):
            raise UserError(
                f"{kind.__name__}.{given.name} takes {len(parameters)} arguments, not {len(given.arguments)}"
            )
        columns = [_values_given(argument) for argument in given.arguments]
        names: tuple[int, ...] = ()
    else:
        needed = [p for p in parameters or () if p.default is p.empty]
        most = MOST_VALUES if len(needed) == 1 else MOST_VALUES - 1
        columns = [_values_of_hint(p.annotation, most, f"{kind.__name__}.{given.name}({p.name})") for p in needed]
        names = tuple(place for place, p in enumerate(needed) if _says_nothing(p.annotation))
    for args in itertools.islice(itertools.product(*columns), MOST_ARGUMENTS):
        yield Call(given.name, args, names, given.apart)


def _parameters(kind: type, name: str, method: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the parameters that a caller fills in by position; None: nobody knows them."""
    try:
        parameters = [*inspect.signature(method).parameters.values()]
    except (TypeError, ValueError):
        return None
    if not isinstance(inspect.getattr_static(kind, name), staticmethod | classmethod):
        parameters = parameters[1:]
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        raise UserError(
            f"{kind.__name__}.{name} needs keyword arguments: give a function of the class that passes them"
        )
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


# ---------------------------------------------------------------------- values


def _says_nothing(hint: Any) -> bool:
    return any(hint is each for each in _SAYS_NOTHING) or type(hint).__name__ == "TypeVar" or hint in _NO_WORDS


_NO_WORDS: Final = ("Any", "object", "T", "K", "V", "typing.Any")
"""Hints that say nothing, where they are texts."""


def _values_of_hint(hint: Any, most: int, where: str) -> list[Any]:
    if _says_nothing(hint):
        return [*NAMES[:2]]
    values = _hinted(hint)
    if not values:
        values = _drawn_from_type(hint)
    if not values:
        raise UserError(f"{where}: say with which values it is to be called: dpor.operation(name, [value, ...])")
    return values[:most]


def _hinted(hint: Any) -> list[Any]:
    """Return small values of the type that a hint names, the simplest first."""
    if isinstance(hint, str):
        named = {getattr(kind, "__name__", ""): kind for kind in _VALUES} | {"None": type(None)}
        parts = [part.strip() for part in hint.split("|")]
        return _mixed([[*_VALUES.get(named.get(part.partition("[")[0]), ())] for part in parts])
    if hint is None:
        return [None]
    origin = get_origin(hint)
    if origin is Literal:
        return [*get_args(hint)]
    if origin is Union or type(hint).__name__ == "UnionType":
        return _mixed([_hinted(part) for part in get_args(hint)])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return [*hint]
    return [*_VALUES.get(origin or hint, ())]


def _mixed(columns: list[list[Any]]) -> list[Any]:
    """Return the first value of each, then the second of each, ..."""
    return [v for row in itertools.zip_longest(*columns, fillvalue=_NONE) for v in row if v is not _NONE]


_NONE: Final = object()


def _values_given(argument: Any) -> list[Any]:
    """Return the values that the user wants: those of a collection, or the simplest that a strategy draws."""
    if type(argument).__module__.startswith("hypothesis."):
        return _drawn(argument)
    if isinstance(argument, str) or not isinstance(argument, Iterable):
        return [argument]
    values = [*argument]
    if not values:
        raise UserError("an argument of an operation needs at least one value")
    return values


def _drawn_from_type(hint: Any) -> list[Any]:
    if not isinstance(hint, type):
        return []
    try:
        from hypothesis import errors, strategies
    except ImportError:
        return []
    try:
        return _drawn(strategies.from_type(hint))
    except (errors.HypothesisException, TypeError):
        return []


def _drawn(strategy: Any) -> list[Any]:
    """Return different values that the strategy draws, the simplest first; the same each time."""
    from hypothesis import HealthCheck, Phase, given, settings

    found: dict[str, Any] = {}

    @settings(
        database=None,
        derandomize=True,
        max_examples=50,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
        deadline=None,
    )
    @given(strategy)
    def draw(value: Any) -> None:
        found.setdefault(repr(value), value)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draw()
    simplest = sorted(found, key=lambda text: (len(text), text))
    return [found[text] for text in simplest[:MOST_VALUES]]
