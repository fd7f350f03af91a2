"""A specification whose answers are known beforehand, for every order of calls that may come."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from dpor.python.specs.frozen_values import freeze, frozen_in_words
from dpor.python.specs.linearizing import RecordedCall


class KnownAnswers:
    """Base of such specifications. An object of it stands for a new sequential object."""

    def __answer__(self, call: RecordedCall) -> Hashable:
        """Return the answer to the next call, as a history records it: see `returned` and `raised`."""
        raise NotImplementedError

    def __state__(self) -> Hashable:
        """Return what the answers to the next calls depend on; None: that is not known."""
        return None


def returned(obj: object, result: object) -> Hashable:
    """Return what a call of the object has returned, as an answer."""
    return ("itself",) if result is obj else ("returned", freeze(result))


def raised(error: BaseException) -> Hashable:
    """Return what a call has raised, as an answer."""
    return ("raised", type(error).__module__, type(error).__qualname__)


def answer_in_words(answer: Hashable) -> str:
    """Return the answer as a text."""
    kind, *rest = cast("tuple[str, Any]", answer)
    return "itself" if kind == "itself" else frozen_in_words(rest[0]) if kind == "returned" else f"raises {rest[-1]}"
