"""How an iterable is consumed: by C code as one operation, or item by item.

`consumes_atomically` determines whether C code that takes all items (`list(x)`, `l.extend(x)`, `sum(x)`) is one
operation, and what that touches: it is one if only C code runs, even through a chain of iterators (`list(zip(a,
map(str, b)))`). If it is not, `stepwise` returns an iterator to be used in place of the iterable, which performs an
operation for each item.
"""

from __future__ import annotations

import array
import collections
import gc
import itertools
import operator
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any, Final, TypeAlias

from dpor.core.operations import READ, WRITE, Accesses
from dpor.python.effects.accesses import NOTHING, Touched, yield_before
from dpor.python.effects.calls import (
    MethodCall,
    is_mixin,
    perform_uninstrumented,
    uninstrumented_method_of,
    yield_before_unseen,
)
from dpor.python.effects.generators import StepwiseGenerator
from dpor.python.effects.key_order import looks
from dpor.python.effects.kinds import container_type_of, is_c_iterator, is_in_c, static
from dpor.python.effects.memoryviews import through
from dpor.python.effects.reach import ANYTHING, reads, views, yield_before_reading
from dpor.python.effects.set_order import agreed_order, stable_order
from dpor.python.kernel.classes import is_a
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects, type_traits
from dpor.python.sharing.fields import is_instrumented
from dpor.python.sharing.shared_object import STRUCTURE, SharedObject
from dpor.python.sharing.type_traits import ATOMIC

StepAccesses: TypeAlias = Callable[[SharedObject, Any, int], Accesses]
"""Accesses of the step to one item: takes the `SharedObject`, the container, and the index of the item."""

# ---------------------------------------------------------------------- views and iterators, and what is behind them


def container_behind(view: Any) -> Any:
    """Return the container that a view or iterator refers to; None if there is none, or no longer."""
    for referent in gc.get_referents(view):
        if container_type_of(type(referent)) is not None:
            return referent
    return None


def register_views(*examples: Any) -> None:
    """Note the types of these views: iterating over one of them reads the container behind it."""
    for example in examples:
        views[type(example)] = container_behind


_TEE: Final = itertools._tee_dataobject  # type: ignore[attr-defined]
"""The object between the iterators that `tee` makes and the iterator behind them."""
_LIST: Final[list[Any]] = []
_LIST_ITERATOR: Final = type(iter(_LIST))

CHAINS: Final[frozenset[type]] = frozenset(
    {
        enumerate, zip, map, filter, reversed,
        *(kind for kind in vars(itertools).values() if isinstance(kind, type) and hasattr(kind, "__next__")),
    }
)  # fmt: skip
"""Iterators over other iterators."""

_ITERABLES: Final[tuple[Any, ...]] = (
    *([], {}, {}.values(), {}.items(), set(), (), "", b"", bytearray(), range(0), collections.deque()),
    *(reversed(_LIST), reversed({}), reversed({}.values()), reversed({}.items()), reversed(collections.deque())),
    *(collections.OrderedDict(), array.array("b"), memoryview(b""), frozenset()),
)

C_ITERATORS: Final[frozenset[type]] = CHAINS | {type(iter(made)) for made in _ITERABLES}

_VALUES: Final[tuple[Any, ...]] = ({}.values(), {}.items(), collections.OrderedDict())
_OVER_VALUES: Final[frozenset[type]] = frozenset(  # one type for all views of an OrderedDict
    {*(type(iter(made)) for made in _VALUES), *(type(reversed(made)) for made in _VALUES)}
)
"""Iterators over a dict that yield values, not only keys."""

_ENDLESS: Final = frozenset({itertools.count, itertools.cycle, itertools.repeat, type(iter(int, 1))})


def may_be_endless(iterator: Any) -> bool:
    """True if an iterator in C may never end, by itself or because of an iterator behind it."""
    parts = [iterator]
    for part in parts:
        kind = type(part)
        if kind in _ENDLESS:
            return True
        if kind is tuple or kind in CHAINS:
            parts.extend(gc.get_referents(part))
    return False


harmless_functions: Final = set(
    map(id, (str, int, float, bool, bytes, repr, ord, chr, abs, len, hash, ascii, itertools.repeat))
)
"""By `id`: functions (and our wrappers of them) that run no code of the program when given strings and numbers."""


def consumes_atomically(items: Any, touched: Touched) -> bool:
    """Add the accesses of C code that consumes all the items; False if that would run code of the program: use
    `stepwise`."""
    kind = type(items)
    if kind in ATOMIC:
        return True
    container_type = container_type_of(kind)
    if container_type is not None:
        if isinstance(static(kind, "__iter__"), types.FunctionType):
            return False
        shared = shared_objects.shared_object_of(items)
        if kind is memoryview:
            touched.add(through(items, READ))
        elif shared is not None:
            touched.add(container_type.reads_items(shared))
        return True
    if kind in views:
        return consume_view(items, touched)
    if kind is StepwiseContainer:
        if items.over_values:
            read_all_of(items.source, touched)
            return True
        return consumes_atomically(items.source, touched)
    if kind is StepwiseIterator:
        return consumes_atomically(items.iterator, touched)
    if kind is StepwiseGenerator:
        shared = shared_objects.shared_object_of(items.generator)
        if shared is not None:
            touched.add(((shared.location(STRUCTURE), WRITE),))
        return False
    if is_c_iterator(kind):
        return kind is not types.GeneratorType and _consumes_iterator_atomically(items, touched, touched)
    if iterates_in_c(kind):
        touched.deeply(reads, (items,), ANYTHING)
        return True
    return static(kind, "__iter__") is None and static(kind, "__getitem__") is None  # not iterable: will fail


def iterates_in_c(kind: type) -> bool:
    """True if C code makes the items of such an object one by one, and it is not a built-in container."""
    found = static(kind, "__iter__") or static(kind, "__getitem__")
    return found is not None and not isinstance(found, types.FunctionType) and is_in_c(kind)


def consume_view(view: Any, touched: Touched) -> bool:
    """Add the accesses of what goes through the view. Returns True: it does so atomically."""
    container = container_behind(view)
    if "keys" in type(view).__name__:
        container_type, shared = container_type_of(type(container)), shared_objects.shared_object_of(container)
        if container_type is not None and shared is not None:
            touched.add(container_type.reads_items(shared))
    else:
        read_all_of(container, touched)
    return True


def read_all_of(container: Any, touched: Touched) -> None:
    """Add reads of all that is in the container, including the values of a dict."""
    container_type, shared = container_type_of(type(container)), shared_objects.shared_object_of(container)
    if container_type is not None and shared is not None:
        touched.add(container_type.reads_all(shared))


def _consumes_iterator_atomically(iterator: Any, touched: Touched, stepwise_touched: Touched) -> bool:
    """Like `consumes_atomically`, for an iterator in C: consuming it changes it, and consumes what it refers to.

    A `StepwiseContainer` behind it performs its own operations unless the whole is one operation, so its accesses are
    added to `stepwise_touched`.
    """
    shared = shared_objects.shared_object_of(iterator)
    if shared is not None:
        touched.add(((shared.location(STRUCTURE), WRITE),))
    pure, calls, containers = True, False, []
    nested = type(iterator) is map and stepwise in gc.get_referents(iterator)  # `chain.from_iterable`
    referents = gc.get_referents(iterator)
    for referent in referents:
        kind = type(referent)
        if referent is type(iterator):
            continue
        if kind is tuple:
            referents.extend(referent)
        elif kind is _TEE:
            shared = shared_objects.shared_object_of(referent)
            if shared is not None:
                touched.add(((shared.location(STRUCTURE), WRITE),))
            stepwise_touched = touched  # two threads that take an item from what is behind at once get an error
            referents.extend(gc.get_referents(referent))
        elif callable(referent):
            calls = True
            pure = pure and id(referent) in harmless_functions
        elif kind not in ATOMIC:
            containers.append(referent)
            if nested:
                pure = pure and _consumes_all_atomically(referent, touched)
            if type(iterator) in _OVER_VALUES:
                read_all_of(referent, touched)
            elif is_c_iterator(kind) and kind is not types.GeneratorType:
                pure = _consumes_iterator_atomically(referent, touched, stepwise_touched) and pure
            else:
                pure = consumes_atomically(referent, stepwise_touched if kind in _IN_STEPS else touched) and pure
    return pure and (not calls or nested or all(map(has_plain_items, containers)))


def _consumes_all_atomically(iterables: Any, touched: Touched) -> bool:
    """Like `consumes_atomically`, for each of the iterables in this iterator over a container of one thread."""
    if has_plain_items(iterables):
        return True
    source = iterables.source if type(iterables) is StepwiseContainer else container_behind(iterables)
    container_type = container_type_of(type(source))
    if container_type is None or shared_objects.shared_object_of(source) is not None:
        return False
    return all(consumes_atomically(item, touched) for item in container_type.contents(source))


def has_plain_items(container: Any) -> bool:
    """True if the container (or a view of one, or iterator over one) holds only numbers, strings and tuples of them."""
    kind = type(container)
    if kind is StepwiseContainer:
        return has_plain_items(container.source)
    if kind is StepwiseIterator:
        return has_plain_items(container.iterator)
    container_type = container_type_of(kind)
    if container_type is not None:
        return _SCALARS.issuperset(map(type, container_type.contents(container)))
    if kind is tuple:
        return all(type(item) in _SCALARS or has_plain_items(item) for item in container)
    if kind in views or kind in C_ITERATORS:
        return all(has_plain_items(r) for r in gc.get_referents(container) if r is not kind and not callable(r))
    return kind in _SCALARS or kind is range


_SCALARS: Final = frozenset({str, int, float, bool, bytes, type(None)})


def materialised(items: Any, *, in_any_order: bool = False) -> Any:
    """Materialise the items; call only after `consumes_atomically` returned True and the operation was performed.

    What is not iterable is returned as it is, so that the built-in function raises its own error.
    """
    kind = type(items)
    if kind in _SEQUENCES or (static(kind, "__iter__") is None and static(kind, "__getitem__") is None):
        return items
    with already_performed():
        return in_order(items, in_any_order)


_SEQUENCES: Final = frozenset({list, tuple, str, bytes, range})


def contents(items: Any) -> Iterable[Any]:
    """The objects in a container that `materialised` returned, to publish them."""
    kind = type(items)
    container_type = container_type_of(kind)
    return container_type.contents(items) if container_type is not None else items if kind is tuple else ()


def in_order(items: Any, in_any_order: bool) -> list[Any]:
    """List all items; those of a set in an order that all runs agree on."""
    if type(items) is set or type(items) is frozenset:
        return (agreed_order if in_any_order else stable_order)(items) or list(items)
    return list(items)


def consumes_pairs_atomically(items: Any, touched: Touched) -> bool:
    """Like `consumes_atomically`, for (key, value) pairs, each of which may be a container itself."""
    return consumes_atomically(items, touched) and all(
        consumes_atomically(pair, touched) for pair in contents(items) if type(pair) is not tuple
    )


# ---------------------------------------------------------------------- one item after the other


def stepwise(items: Any) -> Any:
    """Return an iterator to use in place of the iterable, which performs an operation for each item."""
    kind = type(items)
    if kind in ATOMIC:
        return stable_order(items) or items if kind is frozenset else items
    if kind is Context:  # its variables are hashed by address, too
        return stable_order(frozenset(items)) or items
    container_type = container_type_of(kind)
    if container_type is not None and not isinstance(static(kind, "__iter__"), types.FunctionType):
        return StepwiseContainer(items, iterator_of(items), container_type.step)
    if kind in views:
        behind = container_behind(items)
        container_type = container_type_of(type(behind))
        if container_type is None:  # shows no built-in container
            return iter(items)
        step = container_type.step if "keys" in kind.__name__ else container_type.value_step
        return StepwiseContainer(behind, iterator_of(items), step)
    if kind is types.GeneratorType:
        return StepwiseGenerator(items)
    if is_c_iterator(kind):
        return StepwiseIterator(items)
    if kind is StepwiseContainer or kind is StepwiseIterator or kind is StepwiseGenerator:
        return items
    if static(kind, "__next__") is not None and not uninstrumented_next(kind):
        return items
    if static(kind, "__iter__") is None and static(kind, "__getitem__") is None:
        return items
    report_uninstrumented_iteration(items)
    if run.multi and iterates_in_c(kind):
        yield_before_reading("iterate", (items,), ANYTHING)
    found = static(kind, "__iter__")
    is_ours = run.multi and type(found) is types.FunctionType and is_mixin(found, kind)
    made = run.above.mixin(found)(items) if is_ours else iter(items)
    if uninstrumented_next(type(made)):
        return StepwiseIterator(made)
    return made if type(made) is kind else stepwise(made)


harmless_functions.add(id(stepwise))


def stepwise_with_length(items: Any) -> Any:
    """Like `stepwise`, for a consumer that also asks an iterable how long it is, as `list` and `[*x]` do."""
    steps = stepwise(items)
    if steps is items or not has_length_in_python(type(items)):
        return steps  # C code asks the iterable itself, or there is nothing of the program's to ask
    return WithLength(items, steps)


def has_length_in_python(kind: type) -> bool:
    """True if code of the program, or of a package, answers how long an object of the class is."""
    return any(isinstance(static(kind, name), types.FunctionType) for name in ("__len__", "__length_hint__"))


class WithLength:
    """An iterable in place of the program's: its iterator has been made, and its length is asked for if C code does."""

    __slots__ = ("_items", "_steps")

    def __init__(self, items: Any, steps: Iterator[Any]) -> None:
        self._items = items
        self._steps = steps

    def __iter__(self) -> Iterator[Any]:
        return self._steps

    def __length_hint__(self) -> int:
        return operator.length_hint(self._items)


def report_uninstrumented_iteration(items: Any) -> None:
    """Yield before uninstrumented Python code iterates over something shared.

    The run is then incomplete, because other threads are not seen to come in between.
    """
    unseen = uninstrumented_method_of(type(items)) if run.multi else None
    if unseen is not None:
        yield_before_unseen(unseen, items)


def iterator_of(items: Any) -> Iterator[Any]:
    """Return the iterator of a container or view, or one in a stable order over a set whose own order differs between
    runs.

    Making it is an operation: most iterators remember how long the container was, and fail if that has changed by their
    first step.
    """
    container = container_behind(items) if type(items) in views else items
    if run.multi and is_a(container, _REMEMBERED):
        shared = shared_objects.shared_object_of(container)
        if shared is not None:
            yield_before("iterate", looks(shared))
    if is_a(items, (set, frozenset)):
        order = stable_order(items)
        if order is not None:
            return _in_fixed_order(items, order)
    return iter(items)


_REMEMBERED: Final = (dict, set, collections.deque)


def _in_fixed_order(elements: set[Any] | frozenset[Any], order: list[Any]) -> Iterator[Any]:
    for element in order:
        if len(elements) != len(order):
            raise RuntimeError("Set changed size during iteration")
        yield element
    if len(elements) != len(order):
        raise RuntimeError("Set changed size during iteration")


@contextmanager
def already_performed() -> Iterator[None]:
    """Within this context, iterators perform no operations: that of the whole iteration has been performed."""
    run.iterating += 1
    try:
        yield
    finally:
        run.iterating -= 1


class StepwiseContainer:
    """An iterator over a container, for C code: each step is an operation if the container is shared by then.

    It is re-entrant, like the container's own iterator and unlike a generator: another thread may take an item while
    this one waits to perform its step.
    """

    __slots__ = ("_index", "_iterator", "_step", "source")

    def __init__(self, source: Any, iterator: Iterator[Any], step: StepAccesses) -> None:
        self.source = source
        self._iterator = iterator
        self._step = step
        self._index = 0

    @property
    def over_values(self) -> bool:
        """True if it yields values of a dict."""
        container_type = container_type_of(type(self.source))
        return container_type is not None and container_type.step is not self._step

    def __iter__(self) -> StepwiseContainer:
        return self

    def __next__(self) -> Any:
        if run.multi and not run.iterating:
            shared = shared_objects.shared_object_of(self)
            if shared is not None:
                self._look_together(shared)
            else:
                index = self._index
                perform_step(self.source, index, self._step)
                if index != self._index:
                    perform_step(self.source, self._index, self._step)
        self._index += 1
        return next(self._iterator)

    def _look_together(self, shared: SharedObject) -> None:
        """Yield before a step of an iterator that several threads share: which item comes next depends on the
        others."""
        accesses: Accesses = ((shared.location(STRUCTURE), WRITE),)
        container_type, behind = container_type_of(type(self.source)), shared_objects.shared_object_of(self.source)
        if type(self.source) is memoryview:
            accesses += through(self.source, READ)
        elif behind is not None and container_type is not None:
            accesses += container_type.reads_all(behind)
        yield_before("next", accesses)


type_traits.recorded.add(StepwiseContainer)


def perform_step(source: Any, index: int, touches: StepAccesses) -> None:
    """Yield before the step to an item."""
    shared = shared_objects.shared_object_of(source)
    if type(source) is memoryview:
        yield_before("next", through(source, READ))
    elif shared is not None:
        yield_before("next", touches(shared, source, index))


class StepwiseIterator:
    """An iterator written in C (`zip`, `map`, a file, ...): each step changes it and reads what is behind it."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator

    def __iter__(self) -> StepwiseIterator:
        return self

    def __next__(self) -> Any:
        return advance(self.iterator, within=True) if run.multi and not run.iterating else next(self.iterator)


_IN_STEPS: Final = frozenset({StepwiseContainer, StepwiseIterator, StepwiseGenerator})


def uninstrumented_next(kind: type) -> types.FunctionType | None:
    """Return the `__next__` of the class if it is written in uninstrumented Python, else None."""
    found = static(kind, "__next__")
    return found if isinstance(found, types.FunctionType) and not is_instrumented(found) else None


def advance(iterator: Iterator[Any], *, within: bool = False) -> Any:
    """Advance an iterator that is not instrumented, as an operation."""
    unseen = uninstrumented_next(type(iterator))
    if unseen is not None:
        return perform_uninstrumented(
            MethodCall(iterator, shared_objects.shared_object_of(iterator), "__next__", next), unseen
        )
    if type(iterator) is _LIST_ITERATOR:
        yield_before("next", _list_iterator(iterator))
        return next(iterator)
    touched, stepwise_touched = Touched(), Touched()
    pure = _consumes_iterator_atomically(iterator, touched, stepwise_touched)
    if pure:
        touched.add(stepwise_touched.accesses())
    yield_before("next", touched)
    if not touched:
        return next(iterator)
    if not pure:
        try:
            return next(iterator)
        finally:
            shared = shared_objects.shared_object_of(iterator) if within else None
            if shared is not None:
                yield_before("taken", ((shared.location(STRUCTURE), WRITE),))
    with already_performed():
        return next(iterator)


def _list_iterator(iterator: Any) -> Accesses:
    """Accesses of a step of `iter(l)`, which knows its position."""
    shared = shared_objects.shared_object_of(iterator)
    accesses = NOTHING if shared is None else ((shared.location(STRUCTURE), WRITE),)
    items = container_behind(iterator)
    if items is not None:
        behind, container_type = shared_objects.shared_object_of(items), container_type_of(type(items))
        if behind is not None and container_type is not None:
            if shared is None:
                return container_type.step(behind, items, iterator.__reduce__()[2])
            return accesses + container_type.reads_all(behind)
    return accesses
