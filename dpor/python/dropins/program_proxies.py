"""Weak proxies as code of the program: each operation on one is the operation on its object.

The file is not imported but loaded by `weak_proxies`, as a copy that is instrumented.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from typing import Any

_BINARY = "add sub mul matmul truediv floordiv mod lshift rshift and_ xor or_"
_IN_PLACE = "iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ixor ior"
_COMPARISONS = "eq ne lt le gt ge"
_OF_ITEMS = "getitem setitem delitem contains"
_UNARY = (
    *(operator.neg, operator.pos, operator.invert, operator.index),
    *(abs, bool, bytes, float, int, iter, len, next, reversed, str),
)


def referent(value: Any) -> Any:
    """Return the object of a proxy; of any other value, the value."""
    if type(value) is not ProxyType and type(value) is not CallableProxyType:
        return value
    obj = _get(value)()
    if obj is None:
        raise ReferenceError("weakly-referenced object no longer exists")
    return obj


def _delegating(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        return function(referent(self), *map(referent, others))

    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return function(other, referent(self))

    return method


_operators: dict[str, Any] = {f"__{function.__name__}__": _delegating(function) for function in _UNARY}
for _name in f"{_BINARY} {_IN_PLACE} {_COMPARISONS} {_OF_ITEMS}".split():
    _operators[f"__{_name.rstrip('_')}__"] = _delegating(getattr(operator, _name))
for _name in _BINARY.split():
    _operators[f"__r{_name.rstrip('_')}__"] = _reflected(getattr(operator, _name))
Operators = type("Operators", (), {"__slots__": (), **_operators})


class ProxyType(Operators):  # type: ignore[misc, valid-type]
    """A weak proxy. Its only attribute is its reference: all other names are those of its object."""

    __slots__ = ("__weakref__", "_dpor_reference")

    def __getattribute__(self, name: str) -> Any:
        return getattr(referent(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(referent(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(referent(self), name)

    def __repr__(self) -> str:
        obj = _get(self)()
        return f"<weakproxy at {id(self):#x} to {type(obj).__name__} at {id(obj):#x}>"

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        return pow(referent(self), referent(exponent), referent(modulus))

    def __rpow__(self, base: Any) -> Any:
        return pow(base, referent(self))

    def __divmod__(self, other: Any) -> Any:
        return divmod(referent(self), referent(other))

    def __rdivmod__(self, other: Any) -> Any:
        return divmod(other, referent(self))

    __hash__ = None  # type: ignore[assignment]


class CallableProxyType(ProxyType):
    """A weak proxy of a callable object."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return referent(self)(*args, **kwargs)


_get = vars(ProxyType)["_dpor_reference"].__get__
_set = vars(ProxyType)["_dpor_reference"].__set__


def proxy_of(obj: Any, callback: Callable[[Any], object] | None) -> Any:
    kind = CallableProxyType if callable(obj) else ProxyType
    proxy = object.__new__(kind)
    if callback is None:
        _set(proxy, weakref.ref(obj))
    else:
        itself = weakref.ref(proxy)
        _set(proxy, weakref.ref(obj, lambda reference: callback(itself())))
    return proxy
