"""Code that is not instrumented. If it acts while several threads exist, its package is instrumented and the search
starts again; if that is impossible, the code is one step, and the verdict says so."""

from __future__ import annotations

from collections.abc import Callable

from dpor.python.kernel import assumptions
from dpor.python.kernel.assumptions import INSTRUMENTED
from dpor.python.kernel.incomplete import incomplete, incomplete_if_multithreaded
from dpor.python.kernel.library import CLOSED, package_of
from dpor.python.kernel.run import run


def opaque(name: str) -> None:
    """Called when uninstrumented code ran as one step on shared objects. `name`: the function, with its module."""
    _opaque(name, incomplete)


def opaque_if_multithreaded(name: str) -> None:
    """Like `opaque`, but only if another thread exists or is started later in the run."""
    _opaque(name, incomplete_if_multithreaded)


def demand(module: str, why: str, *, at_once: bool = False) -> bool:
    """Called when uninstrumented code of this module acts while several threads can act; `why` says how, in words.

    Returns True if it will be instrumented from now on, or the run was noted as incomplete; False if it cannot be, or
    is trusted.
    """
    package = package_of(module)
    if package in CLOSED or package in run.options.trusted:
        return False
    if not run.above.can_instrument(package):
        if not run.above.lacks_hooks(module):
            return False
        incomplete(f"{why}: it cannot be instrumented without its source; {_as_one_step(package)}")
        return True
    if run.options.closed:
        incomplete(f"{why}: it is outside of --only; add --only {package}, or --trust {package}")
        return True
    if run.watched:
        incomplete_if_multithreaded(why)
        return True
    fact = (INSTRUMENTED, package)
    if fact not in run.facts:
        run.half_seen = True
        assumptions.broken(fact, f"{why}: {package} is instrumented", at_once=at_once)
    return True


def unseen(module: str, what: str) -> None:
    """Called when the program does something while several threads exist that uninstrumented code of this module
    depends on."""
    package = package_of(module)
    if not demand(module, f"{what} while several threads exist") and package not in run.options.trusted:
        incomplete(
            f"{what} while several threads exist: code of {module} that is not instrumented does not see when;"
            f" --trust {package} if that does not matter"
        )


def _opaque(name: str, say: Callable[[str], None]) -> None:
    package = package_of(name)
    if demand(package, f"{name} runs while several threads exist") or package in run.options.trusted:
        return
    say(f"{name} ran as one step, though other threads could come in between; {_as_one_step(package)}")


def _as_one_step(package: str) -> str:
    return f"--trust {package} if that may be taken for one step"
