"""Restores what programs change in the host's own modules, after each run: loggers, filters, environment, builtins.

It first looks whether anything differs, which is cheap: nearly every run leaves all of it alone.
"""

from __future__ import annotations

import builtins
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

from dpor.python.states.stacks import StateUnknown

_OF_LOGGERS = frozenset(vars(logging.Logger(""))) | {"manager"}
_FIELDS = ("level", "propagate", "disabled")


class HostState:
    """The state at the time this object was created."""

    def __init__(self) -> None:
        manager = logging.root.manager
        self._loggers = dict(manager.loggerDict)
        self._fields = {name: _fields(logger) for name, logger in self._all().items()}
        self._handler_names = dict(logging._handlers)  # type: ignore[attr-defined]
        self._handler_list = list(logging._handlerList)  # type: ignore[attr-defined]
        self._disable = manager.disable
        self._filters = list(warnings.filters)
        self._environment = dict(os.environ)
        self._raw_environment = dict(vars(os.environ)["_data"])
        self._builtins = dict(vars(builtins))

    def changed(self) -> list[Any]:
        """Return what differs now: the environment, warning filters, and loggers that are new or changed."""
        found: list[Any] = []
        if vars(os.environ)["_data"] != self._raw_environment:  # encoded: decoding all of it takes long
            found.append(dict(os.environ))
        if warnings.filters != self._filters:
            found.append([repr(filter_) for filter_ in warnings.filters])
        manager = logging.root.manager
        if manager.disable != self._disable:
            found.append(manager.disable)
        for name, logger in (("", logging.root), *manager.loggerDict.items()):
            if isinstance(logger, logging.Logger) and _fields(logger) != self._fields.get(name):
                found.append(logger)
        return found

    def knows(self, logger: logging.Logger) -> bool:
        """Was the logger there already?"""
        return logger is logging.root or self._loggers.get(logger.name) is logger

    def left(self) -> Iterator[Any]:
        """Yield loggers that were not there, and the handlers and filters of those that were. Raises `StateUnknown` if
        these have got other attributes."""
        for logger in (logging.root, *logging.root.manager.loggerDict.values()):
            if isinstance(logger, logging.Logger):
                if self.knows(logger) and not vars(logger).keys() <= _OF_LOGGERS:
                    raise StateUnknown(f"the logger {logger.name} has been given attributes")
                yield from [*logger.handlers, *logger.filters] if self.knows(logger) else [logger]

    def restore(self) -> None:
        manager = logging.root.manager
        if len(manager.loggerDict) != len(self._loggers):
            manager.loggerDict.clear()
            manager.loggerDict.update(self._loggers)
        manager.disable = self._disable
        for name, logger in self._all().items():
            if _fields(logger) != self._fields[name]:
                for field, value in zip(_FIELDS, self._fields[name], strict=False):
                    setattr(logger, field, value)
                logger.handlers[:], logger.filters[:] = (list(part) for part in self._fields[name][len(_FIELDS) :])
                logger.manager._clear_cache()  # type: ignore[attr-defined]
        if len(logging._handlerList) != len(self._handler_list):  # type: ignore[attr-defined]
            logging._handlerList[:] = self._handler_list  # type: ignore[attr-defined]
            logging._handlers.clear()  # type: ignore[attr-defined]
            logging._handlers.update(self._handler_names)  # type: ignore[attr-defined]
        if warnings.filters != self._filters:
            warnings.filters[:] = self._filters  # type: ignore[index]
            warnings._filters_mutated()  # type: ignore[attr-defined]
        if vars(builtins) != self._builtins:
            names = vars(builtins)
            names.update(self._builtins)
            for name in set(names) - set(self._builtins):
                del names[name]
        if vars(os.environ)["_data"] != self._raw_environment:
            os.environ.clear()
            os.environ.update(self._environment)

    def _all(self) -> dict[str, logging.Logger]:
        named = {name: logger for name, logger in self._loggers.items() if isinstance(logger, logging.Logger)}
        return {"": logging.root, **named}


def _fields(logger: logging.Logger) -> tuple[Any, ...]:
    return (
        *[getattr(logger, field) for field in _FIELDS],
        tuple(logger.handlers),
        tuple(logger.filters),
    )
