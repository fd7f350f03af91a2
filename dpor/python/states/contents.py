"""Encoders of objects of built-in types, by type, apart from attributes that a subclass adds."""

from __future__ import annotations

import _random
import array
import builtins
import collections
import ctypes
import datetime
import decimal
import functools
import gc
import io
import itertools
import marshal
import operator
import re
import sys
import types
import weakref
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any, Final

from dpor.python.effects.set_order import has_fixed_hash
from dpor.python.kernel.run import run
from dpor.python.sharing import shared_objects
from dpor.python.states.c_objects import ENCODERS, by_reduce
from dpor.python.states.frames import ATOMS, HOLE, UNBOUND
from dpor.python.states.heap import Heap
from dpor.python.states.stacks import StateUnknown

Content = Callable[[Heap, Any], None]

_word: Final = ctypes.c_ssize_t.from_address

# ---------------------------------------------------------------------- containers


def _sequence(iterate: Callable[[Any], Any], length: Callable[[Any], int]) -> Content:
    def content(heap: Heap, obj: Any) -> None:
        heap.out.append(length(obj))
        heap.refs(iterate(obj))

    return content


def _deque(heap: Heap, obj: Any) -> None:
    heap.out.append((collections.deque.__len__(obj), obj.maxlen))
    heap.refs(collections.deque.__iter__(obj))


def _dict(heap: Heap, obj: Any) -> None:
    length = dict.__len__(obj)
    heap.out.append(length)
    if length:
        heap.refs(dict.keys(obj))
        heap.refs(dict.values(obj))


def _frozendict(heap: Heap, obj: Any) -> None:
    heap.out.append(len(obj))
    heap.refs(obj.keys())
    heap.refs(obj.values())


def _ordered_dict(heap: Heap, obj: Any) -> None:
    if not _PLAIN_KEYS.issuperset(map(type, dict.keys(obj))):
        raise StateUnknown("the order of an OrderedDict whose keys are not of built-in types")
    heap.out.append(dict.__len__(obj))
    for key in collections.OrderedDict.__iter__(obj):
        heap.ref(key)
        heap.ref(dict.__getitem__(obj, key))


_PLAIN_KEYS: Final = frozenset({str, int, float, bool, bytes, type(None)})


def _default_dict(heap: Heap, obj: Any) -> None:
    heap.ref(obj.default_factory)
    _dict(heap, obj)


def _set(heap: Heap, obj: Any) -> None:
    """Encode the elements in the order in which the program sees them, and the table if later orders depend on it."""
    kind = set if isinstance(obj, set) else frozenset
    elements = list(kind.__iter__(obj))
    if all(map(has_fixed_hash, elements)):
        heap.out.append(_table(obj, elements))
        heap.refs(elements)
        return
    heap.out.append(len(elements))
    heap.settle()
    places = [_place(heap, element) for element in elements]
    if len(set(places)) < len(places):
        raise StateUnknown("a set of objects that nothing tells apart but their addresses")
    heap.refs([element for _, element in sorted(zip(places, elements, strict=True), key=lambda pair: pair[0])])


def _place(heap: Heap, element: Any) -> tuple[int, int, str]:
    """Return a sort key for an element whose hash is its address."""
    met, number = heap.number_of(element), shared_objects.run_number(element)
    if met is not None:
        return (0, met, "")
    if number is not None and heap.names.shown(number) == number:
        return (1, number, "")
    return (2, 0, repr(element) if type(element) in ATOMS else type(element).__qualname__)


def _table(obj: Any, elements: list[Any]) -> tuple[int, ...]:
    """Return the size of the table, and which entries are used by elements and by deleted ones.

    `PySetObject` is a head of two words, then `fill`, `used`, `mask`, `table`; an entry is a pointer and a hash.
    """
    if not _tables_are_known():
        raise StateUnknown("the tables of sets are not laid out as expected")
    used, mask = _word(id(obj) + 24).value, _word(id(obj) + 32).value
    if used != len(elements):
        raise StateUnknown("the table of a set is not laid out as expected")
    if not elements:
        return (mask, _word(id(obj) + 16).value)
    entries = (ctypes.c_size_t * (2 * mask + 2)).from_address(_word(id(obj) + 40).value)
    present = set(map(id, elements))
    return (mask, *[2 * i + (entry in present) for i, entry in enumerate(entries[::2]) if entry])


@cache
def _tables_are_known() -> bool:
    """True if the table of a small set, which lies in the set itself, is where it is expected. Reads nothing else."""
    tried = {0, 1, 2}
    first, size = id(tried), set.__sizeof__(tried)
    if size < 48 + 8 * 16 or [_word(first + offset).value for offset in (16, 24, 32)] != [3, 3, 7]:
        return False
    table = _word(first + 40).value
    return first < table <= first + size - 8 * 16 and all(_word(table + 16 * n).value == id(n) for n in range(3))


# ---------------------------------------------------------------------- values


def _value(plain: Callable[[Any], Any]) -> Content:
    """Make the encoder of a subclass: encodes the value as one of the built-in type."""

    def content(heap: Heap, obj: Any) -> None:
        heap.out.append(plain(obj))

    return content


def _range(heap: Heap, obj: Any) -> None:
    """Encode the bounds, which are plain numbers, whatever they were made from."""
    heap.out.append((obj.start, obj.stop, obj.step))


def _range_iterator(heap: Heap, obj: Any) -> None:
    """Encode the range and position; the range object that `__reduce__` returns is new each time."""
    kind: Any = type(obj)
    _, (left,), *state = kind.__reduce__(obj)
    heap.out.append((left.start, left.stop, left.step, *state))


def _buffer(heap: Heap, obj: Any) -> None:
    heap.out.append(bytes(obj))


def _array(heap: Heap, obj: Any) -> None:
    heap.out.append((obj.typecode, array.array.tobytes(obj)))


def _text_buffer(heap: Heap, obj: Any) -> None:
    if obj.closed:
        heap.out.append(None)
    else:
        heap.out.append((type(obj).getvalue(obj), type(obj).tell(obj)))


def _pattern(heap: Heap, obj: Any) -> None:
    heap.out.append((obj.pattern, obj.flags))


def _match(heap: Heap, obj: Any) -> None:
    heap.refs((obj.re, obj.string, obj.pos, obj.endpos))
    heap.out.append(obj.regs)


def _random_state(heap: Heap, obj: Any) -> None:
    state = _random.Random.getstate(obj)
    heap.out.append(blake2b(marshal.dumps(state, 2), digest_size=16).digest())


def _nothing(heap: Heap, obj: Any) -> None:
    """Encode an object without state, or a lock of the host, which nobody holds while threads are switched."""


# ---------------------------------------------------------------------- iterators with a hidden position


def _dict_iterator(heap: Heap, obj: Any) -> None:
    """Encode an iterator over a dict or set.

    `dictiterobject` and `setiterobject` have, after the head, the container, its length when the iterator was made,
    and the position in the table.
    """
    container = next((r for r in gc.get_referents(obj) if isinstance(r, (dict, set, frozenset))), None)
    kind: Any = type(obj)
    place = _word(id(obj) + 32).value
    if isinstance(container, (set, frozenset)) and not all(map(has_fixed_hash, container)):
        if len(container) > 1:
            raise StateUnknown("an iterator over a set whose order follows addresses")
        place = 0  # the hint tells whether it is before or behind the only element
    heap.out.append((_word(id(obj) + 24).value, place, kind.__length_hint__(obj)))
    heap.ref(container)


def _deque_iterator(heap: Heap, obj: Any) -> None:
    """Encode an iterator over a deque, with whether the deque has changed since: both have a count of changes."""
    items = next(r for r in gc.get_referents(obj) if isinstance(r, collections.deque))
    if _word(id(obj) + 32).value != id(items):
        raise StateUnknown("the iterator of a deque is not laid out as expected")
    heap.out.append((operator.length_hint(obj), _word(id(obj) + 40).value == _word(id(items) + 56).value))
    heap.ref(items)


def _count(heap: Heap, obj: Any) -> None:
    if any(type(r) not in (int, float) for r in gc.get_referents(obj) if r is not itertools.count):
        raise StateUnknown("an itertools.count of other numbers than int and float")
    heap.out.append(repr(obj))


def _view(heap: Heap, obj: Any) -> None:
    """Encode a dict view or mapping proxy by the dict that it shows."""
    heap.refs(gc.get_referents(obj))


# ---------------------------------------------------------------------- functions and what is in classes


_ANNOTATIONS_CHANGE: Final = ("class attribute", "__annotations__")
"""A fact. Without it, annotations of functions are left out: they are made when asked for, and nobody asks."""


def function(heap: Heap, obj: Any) -> None:
    """Add what a function consists of."""
    code, names, fields = obj.__code__, obj.__globals__, obj.__dict__
    closure, defaults, keywords = obj.__closure__, obj.__defaults__, obj.__kwdefaults__
    is_of_module = "__spec__" in names or ("__name__" in names and "__loader__" in names)
    annotations = obj.__annotations__ if run.dirty or _ANNOTATIONS_CHANGE in run.facts else None
    heap.refs((obj.__name__, obj.__qualname__, obj.__module__, obj.__doc__, annotations))
    if is_of_module and closure is None and defaults is None and keywords is None and not fields:
        heap.out.append((heap.layouts.number(code), names.get("__name__")))
        return
    heap.out.append(heap.layouts.number(code))
    heap.refs(closure or ())
    heap.refs((defaults, keywords))
    if fields:
        heap.dict_of(obj, fields)
    else:
        heap.out.append(None)
    if is_of_module:
        heap.out.append(names.get("__name__"))
    else:
        heap.out.append(HOLE)
        heap.ref(names)


def _cell(heap: Heap, obj: Any) -> None:
    try:
        value = obj.cell_contents
    except ValueError:
        heap.out.append(UNBOUND)
        return
    heap.out.append(HOLE)
    heap.ref(value)


def _method(heap: Heap, obj: Any) -> None:
    heap.refs((obj.__func__, obj.__self__))


def _builtin(heap: Heap, obj: Any) -> None:
    owner = obj.__self__
    heap.out.append((obj.__module__ if type(obj.__module__) is str else None, obj.__qualname__))
    heap.ref(None if type(owner) is types.ModuleType else owner)


def _wrapper(heap: Heap, obj: Any) -> None:
    heap.out.append((obj.__qualname__,))
    heap.ref(obj.__self__)


def _descriptor(heap: Heap, obj: Any) -> None:
    heap.out.append((obj.__name__,))
    heap.ref(obj.__objclass__)


def _property(heap: Heap, obj: Any) -> None:
    heap.refs((obj.fget, obj.fset, obj.fdel))


def _wrapped(heap: Heap, obj: Any) -> None:
    heap.ref(obj.__func__)


def _partial(heap: Heap, obj: Any) -> None:
    heap.refs((obj.func, obj.args, obj.keywords, obj.__dict__ or None))


def _slice(heap: Heap, obj: Any) -> None:
    heap.refs((obj.start, obj.stop, obj.step))


def _module(heap: Heap, obj: Any) -> None:
    names = obj.__dict__
    name = names.get("__name__")  # which the program may have deleted
    heap.out.append(name if type(name) is str else None)
    if ".call" not in names and (type(name) is not str or sys.modules.get(name) is not obj):  # the program has made it
        heap.dict_of(obj, names)


def _lazy_import(heap: Heap, obj: Any) -> None:
    heap.out.append(repr(obj))


def _code(heap: Heap, obj: Any) -> None:
    heap.out.append(heap.layouts.number(obj))


def _namespace(heap: Heap, obj: Any) -> None:
    heap.dict_of(obj, obj.__dict__)


def _reference(heap: Heap, obj: Any) -> None:
    """Encode a weak reference: the program can see whether its object is alive, and get it back."""
    heap.finalised = True
    heap.refs((weakref.ReferenceType.__call__(obj), obj.__callback__))


# ---------------------------------------------------------------------- exceptions


def exception(heap: Heap, obj: Any) -> None:
    """Encode an exception: its arguments, fields of the built-in class, causes and traceback.

    Variables of frames in the traceback are left out: the runtime assumes that programs do not look at them.
    """
    heap.refs(BaseException.args.__get__(obj))  # type: ignore[attr-defined]
    heap.refs((obj.__cause__, obj.__context__, obj.__suppress_context__))
    for base in type(obj).__mro__:
        if base.__module__ == "builtins" and base is not object:
            for name, found in base.__dict__.items():
                if type(found) in _FIELDS and name not in _NO_FIELDS:
                    heap.slot(found.__get__, obj)
    traceback(heap, obj.__traceback__)


_FIELDS: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)
_NO_FIELDS: Final = frozenset(
    {"args", "__cause__", "__context__", "__suppress_context__", "__traceback__", "__dict__", "characters_written"}
)


def traceback(heap: Heap, obj: Any) -> None:
    """Add the lines at which a traceback points."""
    way: list[int] = []
    while obj is not None:
        code = obj.tb_frame.f_code
        way += (heap.layouts.number(code), heap.layouts.of(code).index(obj.tb_lasti))
        obj = obj.tb_next
    heap.out.append(way)


# ---------------------------------------------------------------------- by type

SUBCLASSED: Final[dict[type, Content]] = {
    list: _sequence(list.__iter__, list.__len__),
    tuple: _sequence(tuple.__iter__, tuple.__len__),
    collections.deque: _deque,
    dict: _dict,
    **{vars(builtins)[name]: _frozendict for name in ("frozendict",) if name in vars(builtins)},
    collections.OrderedDict: _ordered_dict,
    collections.defaultdict: _default_dict,
    set: _set,
    frozenset: _set,
    int: _value(int.__int__),
    float: _value(float.__float__),
    str: _value(str.__str__),
    bytes: _value(lambda obj: bytes.__getitem__(obj, slice(None))),
    complex: _value(complex.__complex__),
    bytearray: _buffer,
    array.array: _array,
    io.StringIO: _text_buffer,
    io.BytesIO: _text_buffer,
    _random.Random: _random_state,
    datetime.datetime: by_reduce,
    datetime.date: by_reduce,
    datetime.time: by_reduce,
    datetime.timedelta: by_reduce,
    decimal.Decimal: by_reduce,
    weakref.ReferenceType: _reference,
    functools.partial: _partial,
    property: _property,
    staticmethod: _wrapped,
    classmethod: _wrapped,
    types.SimpleNamespace: _namespace,
}
"""Types of which programs may have subclasses."""


def _iterators() -> dict[type, Content]:
    reducing: tuple[Any, ...] = (
        *(iter([]), iter(()), iter(""), iter(b""), iter(bytearray())),
        *(reversed([]), reversed(()), enumerate(()), zip(), map(int, ()), filter(None, ()), iter(int, 1)),
    )
    hidden: tuple[Any, ...] = (
        *(iter({}), iter({}.values()), iter({}.items()), reversed({}), reversed({}.values()), reversed({}.items())),
        *(iter(set()), iter(frozenset())),
    )
    ranges: tuple[Any, ...] = (iter(range(0)), iter(range(1 << 70)))
    deques: tuple[Any, ...] = (iter(collections.deque()), reversed(collections.deque()))
    return {
        **{type(example): by_reduce for example in reducing},
        **{type(example): _range_iterator for example in ranges},
        **{type(example): _dict_iterator for example in hidden},
        **{type(example): _deque_iterator for example in deques},
        itertools.count: _count,
    }


_NOTHING: Final[dict[Any, Any]] = {}
_VIEWS: Final = tuple(
    view
    for empty in (_NOTHING, collections.OrderedDict(_NOTHING))
    for view in (empty.keys(), empty.values(), empty.items())
)

EXACT: Final[dict[type, Content]] = {
    **SUBCLASSED,
    **_iterators(),
    **ENCODERS,
    range: _range,
    slice: _slice,
    types.FunctionType: function,
    types.CellType: _cell,
    types.MethodType: _method,
    types.BuiltinFunctionType: _builtin,
    types.MethodWrapperType: _wrapper,
    types.WrapperDescriptorType: _descriptor,
    types.MethodDescriptorType: _descriptor,
    types.ClassMethodDescriptorType: _descriptor,
    types.GetSetDescriptorType: _descriptor,
    types.MemberDescriptorType: _descriptor,
    getattr(types, "LazyImportType", types.ModuleType): _lazy_import,  # from Python 3.15 on
    types.ModuleType: _module,
    types.CodeType: _code,
    types.MappingProxyType: _view,
    **dict.fromkeys(map(type, _VIEWS), _view),
    operator.itemgetter: by_reduce,
    operator.attrgetter: by_reduce,
    operator.methodcaller: by_reduce,
    datetime.timezone: by_reduce,
    re.Pattern: _pattern,
    re.Match: _match,
    types.GenericAlias: by_reduce,
    type(NotImplemented): _nothing,
    object: _nothing,
    type(__import__("_thread").allocate_lock()): _nothing,
    type(__import__("_thread").RLock()): _nothing,
    types.TracebackType: traceback,
}
"""Encoders by exact type."""
