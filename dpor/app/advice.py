"""What to do next if the time of a search was over: a command."""

from __future__ import annotations

import shlex

import attrs

from dpor.core.options import DEFAULT_SECONDS, Options, flag_of, options_of
from dpor.core.results import Estimate
from dpor.explorers import STATELESS, strategies_with

PATIENT: float = 3600.0
"""Seconds for which one may wait; if a search is estimated to take longer, it is better to cover less."""
FEW_PREEMPTIONS = 2


def next_step(
    target: str,
    options: Options,
    done: int,
    seconds: float,
    estimate: Estimate | None,
    checkpoint: str | None = None,
) -> str:
    """Return the command to try next.

    done, seconds   the executions of the search, and how long they took
    checkpoint      the file from which it can go on, if there is one

    >>> next_step("a.py::f", Options(), 500, 60.0, Estimate(900.0, 1000.0, 1100.0))
    'dpor check a.py::f --max-seconds 200'
    >>> next_step("a.py::f", Options(), 1200, 60.0, Estimate(900.0, 1000.0, 1100.0))
    'dpor check a.py::f --max-seconds 1000'
    >>> next_step("a.py::f", Options(max_seconds=5, races=True), 500, 60.0, Estimate(9e7, 1e8, 2e8))
    'dpor check a.py::f --max-seconds 5 --preemptions 2 --races'
    >>> next_step("a.py::f", Options(), 500, 60.0, Estimate(900.0, 1000.0, 1100.0), ".dpor/f.json")
    'dpor resume .dpor/f.json --max-seconds 200'
    """
    alone = attrs.evolve(options, checkpoint=None, workers=None, cluster=None)  # what others than `optimal` do not know
    known = estimate is not None and 0 < done < estimate.high
    needed = seconds * estimate.high / done if estimate is not None and known else 10 * seconds
    if checkpoint is not None and needed <= PATIENT:
        left = 1.5 * (needed - seconds)
        longer = ["--max-seconds", f"{_rounded_up(left):g}"] if left > DEFAULT_SECONDS else []
        workers = attrs.evolve(Options(), workers=options.workers, cluster=options.cluster)
        return shlex.join(["dpor", "resume", checkpoint, *longer, *arguments(workers)])
    if needed <= PATIENT or options.explorer not in STATELESS:
        further = attrs.evolve(options, max_seconds=None if needed > PATIENT else _rounded_up(1.5 * needed))
    elif options.preemptions is None:
        strategy = options.strategy if options.strategy in strategies_with("preemptions") else None
        order, seed = Options().order, Options().seed
        further = attrs.evolve(alone, strategy=strategy, order=order, seed=seed, preemptions=FEW_PREEMPTIONS)
    elif options.preemptions:
        further = attrs.evolve(options, preemptions=options.preemptions - 1)
    else:
        further = attrs.evolve(alone, strategy="pos", preemptions=None)
    return shlex.join(["dpor", "check", target, *arguments(further)])


def _rounded_up(seconds: float) -> float:
    """Return the next number with one digit that is not 0."""
    unit = 10 ** (len(str(int(seconds))) - 1)
    return float((int(seconds) // unit + 1) * unit)


def arguments(options: Options) -> list[str]:
    """Return the arguments of `dpor check` for these options, without `all` and without defaults.

    >>> arguments(Options(strategy="sa", immutable=False, every_access=True, max_seconds=9, instrument=("a", "b")))
    ['--strategy', 'sa', '--max-seconds', '9', '--immutable', 'off', '--every-access', '--instrument', 'a', \
'--instrument', 'b']
    """
    words = []
    for field, about in options_of(type(options)):
        value, flag = getattr(options, field.name), flag_of(field)
        if "check" not in about.commands or field.name == "all" or value == field.default:
            continue
        match value:
            case True:
                words.append(flag)
            case False:
                words += [flag] if flag.startswith("--no-") else [flag, "off"]
            case None:
                words += [flag, "0"]
            case tuple():
                words += [word for each in value for word in (flag, each)]
            case float():
                words += [flag, f"{value:g}"]
            case _:
                words += [flag, str(value)]
    return words
