"""The options of a check. Values only; `dpor.app.checking` acts on them.

Long on purpose: everything about an option is written once, in its field. From there come the options of the command
line (`dpor.cli.options`), the text of `help(dpor.check)` (`dpor.app.option_docs`), the options of pytest and of its
marks (`dpor.pytest.mark`) and the table of docs/api.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

import attrs

from dpor.core.errors import UserError
from dpor.core.oracle import Oracle, ProgramSource
from dpor.core.system import Escape, Locks, Store, SyncChoices

E = TypeVar("E", bound=StrEnum)

DEFAULT_SECONDS = 60.0
DEFAULT_STEPS = 20_000
DEFAULT_DEPTH = 3
MOST_WORKERS = 16
LOCAL_CLUSTER: Final = "local"
"""Stands for a cluster on this machine in place of an address."""


class Timeouts(StrEnum):
    """When a timed wait may time out."""

    ANY = "any"
    """At any point where it waits, as on a loaded machine: `timeout_limit` times a run for a call site and object."""
    IDLE = "idle"
    """Only when no thread can move otherwise."""


class Order(StrEnum):
    """Which part of a search without states comes first."""

    DEPTH = "depth"
    """The job that shares the longest prefix with the last execution. Needs the least memory."""
    PREEMPTIONS = "preemptions"
    """The job with the fewest preemptions."""
    RANDOM = "random"
    """Any job, each with the same probability."""


class FieldAccess(StrEnum):
    """How exactly the analysis of what threads may still access matches calls and returns. [PL, section 5]"""

    INSENSITIVE = "insensitive"
    CALLEE = "callee"
    SENSITIVE = "sensitive"


class PointerAnalysis(StrEnum):
    """How the analysis tells objects apart: ci and cs are context insensitive and sensitive, ex and dd exhaustive and
    demand-driven. [PL, section 5.5]"""

    NONE = "none"
    CI_EX = "ci-ex"
    CS_EX = "cs-ex"
    CI_DD = "ci-dd"
    CS_DD = "cs-dd"


# ---------------------------------------------------------------------- what is said of an option


class Group(StrEnum):
    """The subjects of options, and the headings under which the documentation lists them."""

    SEARCH = "The search"
    END = "When it stops"
    STATES = "Strategies that store states"
    ANALYSIS = "The static analysis"
    RUNS = "Runs of the program"


@attrs.frozen
class OfPytest:
    """An option of pytest's own command line that sets an option of all marked tests. `0` stands for None where None is
    allowed."""

    flag: str
    metavar: str
    help: str


ABOUT: Final = "about"
"""The key under which a field's metadata has its `About`."""


@attrs.frozen(kw_only=True)
class About:
    """Everything about an option besides its name, its default and the values that are right.

    In both texts, `{own}` stands for the strategies that use the option, `{samplers}` for those that try one schedule
    after another, `{all}` for all of them, each with a description.

    line          what it does, in one line, for users of Python
    help          the same for users of the command line; empty: the same as `line`
    group         where the documentation lists it
    commands      the commands of `dpor` that have it; none: it is an option in Python alone
    flag          its flag on the command line; empty: made from the field's name. "--no-x" turns off what is on by
                  default
    metavar       the placeholder for its value
    short_forms   further flags of the command line, each with the value that it stands for and its help text
    pytest        an option of pytest that sets it
    mark          True if the mark of a test can give it
    python_only   True if it means nothing for abstract programs and for the user's own systems
    saved         True if it changes what an event is. It is then saved with a schedule, and used in the replay
    """

    line: str
    help: str = ""
    group: Group
    commands: tuple[str, ...] = ("check", "compare")
    flag: str = ""
    metavar: str | None = None
    short_forms: Mapping[str, tuple[str, str]] = attrs.field(factory=dict)
    pytest: OfPytest | None = None
    mark: bool = True
    python_only: bool = False
    saved: bool = False


def _about(line: str, group: Group, **rest: Any) -> dict[str, About]:
    return {ABOUT: About(line=line, group=group, **rest)}


def options_of(kind: type[Any]) -> Iterator[tuple[attrs.Attribute[Any], About]]:
    """Yield the options of `Options`, or of a class like it, each with its `About`, in order."""
    for field in attrs.fields(kind):
        yield field, field.metadata[ABOUT]


def flag_of(field: attrs.Attribute[Any]) -> str:
    """Return the option's flag on the command line."""
    return field.metadata[ABOUT].flag or f"--{field.name.replace('_', '-')}"


def spelled(name: str) -> str:
    """Return the option as an error's message names it: by its flag, if it has one."""
    field = getattr(attrs.fields(Options), name)
    return flag_of(field) if field.metadata[ABOUT].commands else name


# ---------------------------------------------------------------------- which values are right


@attrs.frozen
class Number:
    """A check that a value is a number, not less than `least` and not infinite.

    whole      True if it must be a whole number
    or_none    True if it may also be None
    """

    least: int
    whole: bool = True
    or_none: bool = False

    def __call__(self, options: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is None and self.or_none:
            return
        kind = int if self.whole else int | float
        if not isinstance(value, kind) or isinstance(value, bool) or not self.least <= value < float("inf"):
            raise UserError(f"{attribute.name} must be a number of {self.least} or more, not {value!r}")


def _is_bool(options: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, bool):
        raise UserError(f"{attribute.name} must be True or False, not {value!r}")


def _is_name(options: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and not isinstance(value, str):
        raise UserError(f"{attribute.name} must be a name or None, not {value!r}")


AUTO: Final = "auto"
"""Stands for no single strategy (`dpor.app.stages`)."""


def _no_single_one(strategy: Any) -> Any:
    return None if strategy == AUTO else strategy


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


def _order(value: str) -> Order:
    return _one_of(Order, "order", value)


def _sync_choices(value: str) -> SyncChoices:
    return _one_of(SyncChoices, "sync_choices", value)


def _escape(value: str) -> Escape:
    return _one_of(Escape, "escape", value)


def _locks(value: str) -> Locks:
    return _one_of(Locks, "locks", value)


def _field_access(value: str) -> FieldAccess:
    return _one_of(FieldAccess, "field_access", value)


def _pointers(value: str) -> PointerAnalysis:
    return _one_of(PointerAnalysis, "pointers", value)


def _workers(value: Any) -> Any:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if value is not None and value != "auto" and (type(value) is not int or not 1 <= value <= MOST_WORKERS):
        raise UserError(f"workers must be a number from 1 to {MOST_WORKERS}, or auto, not {value!r}")
    return value


def _path(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _packages(value: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise UserError(f"packages are given by name, or as a list of names, not as {value!r}")
    return tuple(names)


# ---------------------------------------------------------------------- the options

_NO_LIMIT = "[default: no limit]"


@attrs.frozen(kw_only=True)
class Options:
    """How to check: `help(dpor.check)` lists the options.

    >>> Options(max_seconds=None).explorer, Options(preemptions=2).explorer
    ('optimal', 'classic')
    >>> Options(max_steps=0)
    Traceback (most recent call last):
    dpor.core.errors.UserError: max_steps must be a number of 1 or more, not 0
    """

    strategy: str | None = attrs.field(
        default=None,
        converter=_no_single_one,
        validator=_is_name,
        metadata=_about(
            "how to search: the name of a strategy; None or auto: optimal, then dpor if that does not end soon; with"
            " preemptions, classic",
            Group.SEARCH,
            help="The search: {all} auto, the default: optimal; if that does not end soon, with the fewest"
            " preemptions first, then classic with up to 3 preemptions, to know what is covered, then dpor; then"
            " optimal, if dpor does not help.",
            commands=("check",),
            metavar="NAME",
            pytest=OfPytest("--dpor-strategy", "NAME", "the search, for all of them (see dpor check --help)"),
            saved=True,
        ),
    )
    all: bool = attrs.field(
        default=False,
        validator=_is_bool,
        metadata=_about(
            "go on after the first failure and report each kind and place once",
            Group.SEARCH,
            help="Go on after the first failure; show each kind and place once.",
            commands=("check",),
            mark=False,
        ),
    )
    outcomes: bool = attrs.field(
        default=False,
        validator=_is_bool,
        metadata=_about(
            "go on after failures, as with all, and report each outcome with a schedule: see dpor.outcomes",
            Group.SEARCH,
            help="Go on after failures, as with --all; show each outcome, with a schedule of the fewest switches.",
            commands=("check",),
            mark=False,
        ),
    )
    max_seconds: float | None = attrs.field(
        default=DEFAULT_SECONDS,
        validator=Number(0, whole=False, or_none=True),
        metadata=_about(
            "stop after so many seconds; None: no limit",
            Group.END,
            help="Stop after S seconds; 0: no limit.",
            commands=("check", "compare", "resume"),
            metavar="S",
            pytest=OfPytest(
                "--dpor-budget",
                "SECONDS",
                "for each of them; 0: no limit (default: what the mark says, else 60)",
            ),
        ),
    )
    preemptions: int | None = attrs.field(
        default=None,
        validator=Number(0, or_none=True),
        metadata=_about(
            "of {own}: only schedules with at most so many preemptions; None: all",
            Group.SEARCH,
            help="Only schedules with at most N preemptions: switches away from a thread that could have gone on. With"
            " {own}; classic is then the default strategy.",
            metavar="N",
        ),
    )
    order: Order = attrs.field(
        default=Order.DEPTH,
        converter=_order,
        metadata=_about(
            "of {own}: what is explored first. The counts of a finished search are the same in each order",
            Group.SEARCH,
            help="Of {own}: explore first what differs last from the execution before, what has the fewest"
            " preemptions, or anything. The counts of a finished search are the same; depth takes the least memory.",
        ),
    )
    seed: int = attrs.field(
        default=0,
        validator=Number(0),
        metadata=_about(
            "of {own}: the same seed gives the same schedules",
            Group.SEARCH,
            help="Of {own}: the same seed gives the same schedules.",
            metavar="N",
        ),
    )
    depth: int = attrs.field(
        default=DEFAULT_DEPTH,
        validator=Number(1),
        metadata=_about(
            "of {own}: look for bugs that show if so many events come in a certain order",
            Group.SEARCH,
            help="Of {own}: look for bugs that show if D events come in a certain order.",
            metavar="D",
        ),
    )
    max_executions: int | None = attrs.field(
        default=None,
        validator=Number(1, or_none=True),
        metadata=_about(
            "stop after so many complete executions, those before the search began again included; None: no limit",
            Group.END,
            help=f"Stop after N executions. {_NO_LIMIT}",
            commands=("check", "compare", "resume"),
            metavar="N",
        ),
    )
    max_states: int | None = attrs.field(
        default=None,
        validator=Number(1, or_none=True),
        metadata=_about(
            "of {own}: stop when more than so many states (or cuts) are stored; None: no limit (1,000,000 cuts)",
            Group.END,
            help=f"Stop when more than N states (or cuts) are stored. {_NO_LIMIT}",
            metavar="N",
        ),
    )
    max_memory: float | None = attrs.field(
        default=None,
        validator=Number(1, whole=False, or_none=True),
        metadata=_about(
            "stop when the process takes more than so many megabytes (10^6 bytes); None: no limit",
            Group.END,
            help=f"Stop when the process takes more than so many megabytes. {_NO_LIMIT}",
            metavar="MB",
        ),
    )
    workers: int | str | None = attrs.field(
        default=None,
        converter=_workers,
        metadata=_about(
            "how many processes search, once the search is large; 'auto': one for each processor; None: this one",
            Group.SEARCH,
            help="Let N processes search, once the search is large; auto: one for each processor. The default search"
            " then stores no states. With --strategy optimal, or one that stores states. [default: 1]",
            commands=("check", "resume"),
            metavar="N|auto",
            mark=False,
        ),
    )
    cluster: str | None = attrs.field(
        default=None,
        validator=_is_name,
        metadata=_about(
            "let the workers of the Dask cluster with this address search, once the search is large; 'local': one on"
            " this machine",
            Group.SEARCH,
            help="Let the workers of the Dask cluster with this address search, once the search is large; local: one on"
            " this machine. In place of --workers. Needs the extra cluster.",
            commands=("check", "resume"),
            metavar="ADDRESS|local",
            mark=False,
        ),
    )
    checkpoint: str | None = attrs.field(
        default=None,
        converter=_path,
        validator=_is_name,
        metadata=_about(
            "file that keeps what is left of the search, every few seconds and when it is cut: see dpor.resume",
            Group.END,
            help="Keep what is left of the search in FILE, every few seconds and when it is cut, so that dpor resume"
            " FILE goes on. The default search then stores no states. [default: in .dpor/, when it is cut]",
            commands=("check",),
            metavar="FILE",
            short_forms={"--no-checkpoint": ("", "Keep nothing of a search that is cut.")},
            mark=False,
        ),
    )
    store: Store = attrs.field(
        default=Store.EVENTS,
        converter=_store,
        metadata=_about(
            "which states are stored: those after every event, those with a choice, or nothing",
            Group.STATES,
            help="Of {own}: which states are stored and can be met again: those"
            " after every event, those with a choice, or nothing.",
            short_forms={"--no-matching": (Store.NOTHING.value, "The same as --store nothing.")},
        ),
    )
    whole_states: bool = attrs.field(
        default=False,
        validator=_is_bool,
        metadata=_about(
            "keep whole states beside their keys of 128 bits; that two different ones share a key is an error",
            Group.STATES,
            help="Of {own}: keep whole states; it is an error if two that differ have the same key (of 128 bits).",
        ),
    )
    sync_choices: SyncChoices = attrs.field(
        default=SyncChoices.ALL,
        converter=_sync_choices,
        metadata=_about(
            "of {own}: which starts, ends and joins of threads are choices",
            Group.STATES,
            help="Of {own}: whether all starts, ends and joins of threads are choices, or only those of threads that"
            " share something.",
        ),
    )
    escape: Escape = attrs.field(
        default=Escape.UNSHARED,
        converter=_escape,
        metadata=_about(
            "of {own}: which objects have not escaped from a thread, so that no other can interfere",
            Group.STATES,
            help="Of {own}: explore a thread's next access alone if one thread alone accesses it, or nobody changes it"
            " (unshared); if no other thread can reach its object in the present state (dynamic); or not for such"
            " a reason.",
        ),
    )
    locks: Locks = attrs.field(
        default=Locks.DISCIPLINE,
        converter=_locks,
        metadata=_about(
            "of {own}: whether no other thread can interfere with accesses that are always made under one lock",
            Group.STATES,
            help="Of {own}: explore a thread's next access alone also if the same lock is held at every such access"
            " (discipline), or not for such a reason.",
        ),
    )
    field_access: FieldAccess = attrs.field(
        default=FieldAccess.SENSITIVE,
        converter=_field_access,
        metadata=_about(
            "how exactly the analysis of what threads may still access follows calls",
            Group.ANALYSIS,
            help="Of the analysis that {own} use: how calls are followed to tell what threads may still access:"
            " through all callers; through the callee alone; or by the call stack that a thread has.",
            commands=("check", "compare", "analyze"),
        ),
    )
    pointers: PointerAnalysis = attrs.field(
        default=PointerAnalysis.NONE,
        converter=_pointers,
        metadata=_about(
            "how it tells objects apart",
            Group.ANALYSIS,
            help="Of the analysis that {own} use: how the objects are told apart whose fields are accessed: not at"
            " all; by where they are made (ex) or through which variables they are accessed (dd),"
            " context-insensitively (ci) or context-sensitively (cs).",
            commands=("check", "compare", "analyze"),
        ),
    )
    immutable: bool = attrs.field(
        default=True,
        validator=_is_bool,
        metadata=_about(
            "of {own}: whether they take advantage of immutable fields",
            Group.ANALYSIS,
            help="Of {own}: whether they take advantage of immutable fields.",
        ),
    )
    oracle: Callable[[ProgramSource], Oracle] | None = attrs.field(
        default=None,
        metadata=_about(
            "of {own}: makes, of a program's source, what is asked in place of the analysis; see dpor.core.oracle",
            Group.ANALYSIS,
            commands=(),
            python_only=True,
        ),
    )
    max_steps: int = attrs.field(
        default=DEFAULT_STEPS,
        validator=Number(1),
        metadata=_about(
            "cut a single execution after so many operations",
            Group.RUNS,
            help="Cut a single execution after N operations.",
            metavar="N",
            saved=True,
        ),
    )
    timeouts: Timeouts = attrs.field(
        default=Timeouts.ANY,
        converter=_timeouts,
        metadata=_about(
            "when a timed wait may time out: at any point, as on a loaded machine, or when nothing else can move",
            Group.RUNS,
            help="When a timed wait may time out: at any point, as on a loaded machine, or only when nothing else can"
            " move.",
            python_only=True,
            saved=True,
        ),
    )
    timeout_limit: int = attrs.field(
        default=1,
        validator=Number(0),
        metadata=_about(
            "with timeouts='any': how often one call of a thread may time out for one object in one execution"
            " (searches that store states need no limit where states come back)",
            Group.RUNS,
            help="With --timeouts any: how often one call of a thread may time out for one object in one execution."
            " Searches that store states need no limit where states come back.",
            metavar="N",
            python_only=True,
            saved=True,
        ),
    )
    max_delay: float = attrs.field(
        default=10,
        validator=Number(0, whole=False),
        metadata=_about(
            "with timeouts='any': by how many seconds a thread may be late; longer waits time out no sooner",
            Group.RUNS,
            help="With --timeouts any: by how many seconds a loaded machine may make a thread late. A wait of S seconds"
            " or more times out only if others wait or sleep as long, or nothing else can move.",
            metavar="S",
            python_only=True,
            saved=True,
        ),
    )
    every_access: bool = attrs.field(
        default=False,
        validator=_is_bool,
        metadata=_about(
            "accesses are events, too, to what no run writes while several threads exist, or only under one lock",
            Group.RUNS,
            help="Let accesses be events, too, to shared fields and containers that no run writes while several threads"
            " exist, that one thread alone accesses, or that all threads access under the same lock: there are more"
            " events, and no more outcomes. For comparison with checkers that know no better.",
            saved=True,
        ),
    )
    races: bool = attrs.field(
        default=False,
        validator=_is_bool,
        metadata=_about(
            "data races are failures, too: conflicting accesses that no synchronisation orders",
            Group.RUNS,
            help="Data races are failures, too: two threads access the same field, global or element, one of them"
            " writes, and no lock, event, start or join orders them.",
            saved=True,
        ),
    )
    instrument: tuple[str, ...] = attrs.field(
        default=(),
        converter=_packages,
        metadata=_about(
            "further packages that are part of the program from the first run on",
            Group.RUNS,
            help="Instrument this package from the first run on. Without it, a package is instrumented as soon as its"
            " code runs while several threads exist, and the search starts again. May be given again.",
            commands=("check", "compare", "analyze", "doctor"),
            metavar="PKG",
            python_only=True,
            saved=True,
        ),
    )
    trust: tuple[str, ...] = attrs.field(
        default=(),
        converter=_packages,
        metadata=_about(
            "packages that are never instrumented: each call of their functions is taken for one step",
            Group.RUNS,
            help="Never instrument this package: each call of its functions is taken for one step that no other thread"
            " interrupts. May be given again.",
            commands=("check", "compare", "doctor"),
            metavar="PKG",
            python_only=True,
            saved=True,
        ),
    )
    only: tuple[str, ...] = attrs.field(
        default=(),
        converter=_packages,
        metadata=_about(
            "the program is the project and these packages; other code that runs among threads: inconclusive",
            Group.RUNS,
            help="The program is the project and this package, and no other is instrumented: the verdict is"
            " inconclusive if code outside of them runs while several threads exist. May be given again.",
            commands=("check", "compare", "doctor"),
            metavar="PKG",
            python_only=True,
            saved=True,
        ),
    )
    cache: bool = attrs.field(
        default=True,
        validator=_is_bool,
        metadata=_about(
            "keep rewritten modules on disk, so that the next check begins sooner",
            Group.RUNS,
            help="Rewrite all modules anew, and keep nothing of it on disk so that the next check begins sooner.",
            flag="--no-cache",
            python_only=True,
            mark=False,
        ),
    )
    expect_threads: bool = attrs.field(
        default=False,
        validator=_is_bool,
        metadata=_about(
            "a pass is inconclusive if only one thread ran (set for tests of pytest and with --sarif and --github)",
            Group.END,
            help="Inconclusive, not passed, if only one thread ran. Set with --sarif and --github.",
            commands=("check",),
            mark=False,
        ),
    )
    name: str | None = attrs.field(
        default=None,
        validator=_is_name,
        metadata=_about(
            "which program of a file of abstract programs",
            Group.RUNS,
            help="Which program of a .json or .jsonl file.",
            metavar="NAME",
            mark=False,
        ),
    )

    @property
    def processes(self) -> int:
        """How many processes of this machine search."""
        return processors() if self.workers == "auto" else int(self.workers or 1)

    @property
    def is_shared(self) -> bool:
        """True if other processes search, be it only one: it searches in the same order as several, so all of them find
        the same failure first."""
        return self.cluster is not None or self.workers is not None

    @property
    def explorer(self) -> str:
        """The name of the strategy, the default one if none was given."""
        return self.strategy or ("optimal" if self.preemptions is None else "classic")

    def saved(self) -> dict[str, Any]:
        """Return the options that a replay of a schedule needs, as plain values: `Options(**saved)` takes them
        again."""
        values = {field.name: getattr(self, field.name) for field, about in options_of(type(self)) if about.saved}
        values["strategy"] = self.explorer
        return {name: list(value) if isinstance(value, tuple) else plain(value) for name, value in values.items()}


def processors() -> int:
    """Return how many processes can search at once on this machine."""
    known = getattr(os, "sched_getaffinity", None)
    return min(MOST_WORKERS, len(known(0)) if known is not None else os.cpu_count() or 1)


def plain(value: Any) -> Any:
    """Return an option's value as a user writes it: the word for a member of an enumeration."""
    return value.value if isinstance(value, StrEnum) else value


def with_changes(options: Options, changes: Mapping[str, Any], what: str, known: tuple[str, ...] = ()) -> Options:
    """Return the options with some changed. Raises `UserError` for a name or a value that is wrong.

    what    what the options are given to, for the message
    known   the names that it takes; empty: all

    >>> with_changes(Options(), {"max_second": 3}, "dpor.check", ("max_steps", "max_seconds"))
    Traceback (most recent call last):
    dpor.core.errors.UserError: dpor.check has no option 'max_second'; there are max_steps, max_seconds
    """
    known = known or tuple(field.name for field in attrs.fields(type(options)))
    for name in changes:
        if name not in known:
            raise UserError(f"{what} has no option {name!r}; there are {', '.join(known)}")
    return attrs.evolve(options, **changes)
