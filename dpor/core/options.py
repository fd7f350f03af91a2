"""What a user can ask of a check. Values only; `dpor.app.checking` acts on them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from types import UnionType
from typing import Any, TypedDict, TypeVar

import attrs

from dpor.core.errors import UserError
from dpor.core.oracle import Oracle, ProgramSource
from dpor.core.system import Store, SyncChoices

E = TypeVar("E", bound=StrEnum)

DEFAULT_SECONDS = 60.0
DEFAULT_STEPS = 20_000
DEFAULT_DEPTH = 3


class Timeouts(StrEnum):
    """When a timed wait may time out."""

    ANY = "any"
    """At any point where it waits, as on a loaded machine; `timeout_limit` times a run for each call site."""
    IDLE = "idle"
    """Only when no thread can move otherwise."""


class FieldAccess(StrEnum):
    """How exactly calls and returns are matched where it is told what threads may still access. [PL, section 5]"""

    INSENSITIVE = "insensitive"
    CALLEE = "callee"
    SENSITIVE = "sensitive"


class PointerAnalysis(StrEnum):
    """How objects are told apart there: ci and cs, context insensitive and sensitive; ex and dd, exhaustive and
    demand-driven. [PL, section 5.5]"""

    NONE = "none"
    CI_EX = "ci-ex"
    CS_EX = "cs-ex"
    CI_DD = "ci-dd"
    CS_DD = "cs-dd"


def _at_least(
    least: int, kind: type | UnionType = int, *, or_none: bool = False
) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    def check(options: Options, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is None and or_none:
            return
        number: Any = value
        if not isinstance(value, kind) or isinstance(value, bool) or not least <= number < float("inf"):
            raise UserError(f"{attribute.name} must be a number of {least} or more, not {value!r}")

    return check


def _one_of(kind: type[E], name: str, value: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = " or ".join(repr(member.value) for member in kind)
        raise UserError(f"{name} must be {known}, not {value!r}") from None


def _timeouts(value: str) -> Timeouts:
    return _one_of(Timeouts, "timeouts", value)


def _store(value: str) -> Store:
    return _one_of(Store, "store", value)


def _sync_choices(value: str) -> SyncChoices:
    return _one_of(SyncChoices, "sync_choices", value)


def _field_access(value: str) -> FieldAccess:
    return _one_of(FieldAccess, "field_access", value)


def _pointers(value: str) -> PointerAnalysis:
    return _one_of(PointerAnalysis, "pointers", value)


def _names(value: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@attrs.frozen(kw_only=True)
class Options:
    """How to check. Every field but one is an option of `dpor check` with the same name.

    strategy        the name of one of `dpor.explorers.STRATEGIES`; None: optimal, or with `preemptions`, classic
    preemptions     explore schedules with at most so many preemptions only; None: all. For none and classic
    seed            of the random strategies: the same seed gives the same runs
    depth           of the bugs that pct looks for: how many events must come in a certain order
    all             go on after the first failure and report every kind and place of failure once
    max_executions  stop after so many complete executions; None: no limit
    max_seconds     stop after so many seconds; None: no limit
    max_states      stop when more than so many states are stored; None: no limit
    max_memory      stop when the process takes more than so many megabytes (10^6 bytes); None: no limit
    store           of the stateful strategies: which states are stored
    whole_states    of the stateful strategies: keep whole states beside their keys of 128 bits; that two different ones
                    share a key is an error
    sync_choices    of original: which starts, ends and joins of threads are choices
    field_access    of sa: how exactly the analysis of what threads may still access follows calls
    pointers        of sa: how it tells objects apart
    immutable       of sa and dpor+static: is it used which fields are immutable?
    oracle          of sa, and no option of the command line: what makes, of a program's source, what is asked in
                    place of the analysis; see `dpor.core.oracle`
    max_steps       end a single execution after so many operations
    timeouts        when a timed wait may time out
    timeout_limit   how often one call site of one thread may time out in one execution while others can move
    every_access    accesses are events, too, to what no run writes while several threads exist
    races           data races are failures: conflicting accesses that no synchronisation orders
    instrument      further packages whose accesses to shared data are explored
    name            which program of a file of abstract programs

    >>> Options(max_seconds=None).explorer, Options(preemptions=2).explorer
    ('optimal', 'classic')
    >>> Options(max_steps=0)
    Traceback (most recent call last):
    dpor.core.errors.UserError: max_steps must be a number of 1 or more, not 0
    """

    strategy: str | None = None
    preemptions: int | None = attrs.field(default=None, validator=_at_least(0, or_none=True))
    seed: int = attrs.field(default=0, validator=_at_least(0))
    depth: int = attrs.field(default=DEFAULT_DEPTH, validator=_at_least(1))
    all: bool = False
    max_executions: int | None = attrs.field(default=None, validator=_at_least(1, or_none=True))
    max_seconds: float | None = attrs.field(default=DEFAULT_SECONDS, validator=_at_least(0, int | float, or_none=True))
    max_states: int | None = attrs.field(default=None, validator=_at_least(1, or_none=True))
    max_memory: float | None = attrs.field(default=None, validator=_at_least(1, int | float, or_none=True))
    store: Store = attrs.field(default=Store.EVENTS, converter=_store)
    whole_states: bool = False
    sync_choices: SyncChoices = attrs.field(default=SyncChoices.ALL, converter=_sync_choices)
    field_access: FieldAccess = attrs.field(default=FieldAccess.SENSITIVE, converter=_field_access)
    pointers: PointerAnalysis = attrs.field(default=PointerAnalysis.NONE, converter=_pointers)
    immutable: bool = True
    oracle: Callable[[ProgramSource], Oracle] | None = None
    max_steps: int = attrs.field(default=DEFAULT_STEPS, validator=_at_least(1))
    timeouts: Timeouts = attrs.field(default=Timeouts.ANY, converter=_timeouts)
    timeout_limit: int = attrs.field(default=1, validator=_at_least(0))
    every_access: bool = False
    races: bool = False
    instrument: tuple[str, ...] = attrs.field(default=(), converter=_names)
    name: str | None = None

    @property
    def explorer(self) -> str:
        """The strategy, also where none was given."""
        return self.strategy or ("optimal" if self.preemptions is None else "classic")


class OptionArguments(TypedDict, total=False):
    """The fields of `Options` as keyword arguments (a test holds the two together)."""

    strategy: str | None
    preemptions: int | None
    seed: int
    depth: int
    all: bool
    max_executions: int | None
    max_seconds: float | None
    max_states: int | None
    max_memory: float | None
    store: str
    whole_states: bool
    sync_choices: str
    field_access: str
    pointers: str
    immutable: bool
    oracle: Callable[[ProgramSource], Oracle] | None
    max_steps: int
    timeouts: str
    timeout_limit: int
    every_access: bool
    races: bool
    instrument: str | list[str] | tuple[str, ...]
    name: str | None
