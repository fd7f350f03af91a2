# ruff: noqa: E501
"""External classes: one for each protocol of the data model, in a library that the program imports.

A class has one special method, which takes a number of the library and stores the next one: two threads that come
to it at the same time lose one. `USES` are the operators, statements and built-in functions that call it. In a program
one thread does so with an object that both can reach, the other with one of its own.
"""

from __future__ import annotations

from textwrap import indent
from typing import Final, NamedTuple

HEAD: Final = """
import abc, functools

total = 0

def step(result=None):
    global total
    seen = total
    total = seen + 1
    return result

"""

PROGRAM: Final = """
import bisect, copy, functools, heapq, io, itertools, math, operator, os, pickle, string, sys, threading
import {library} as lib
{top}
def f(*args, **kwargs):
    return None

def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass

def scenario():
    x = {make}
    def shared():
{use}
    def own():
        x = {make}
{use}
    threads = [threading.Thread(target=body) for body in (shared, own)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return lib.total
"""


class Protocol(NamedTuple):
    """One protocol.

    body   of the class `K`; `return step(...)` is the step
    uses   each a statement with `x`, an object of the class
    make   how `x` is made
    top    what the program has at its top
    base   of the class
    """

    body: str
    uses: tuple[str, ...]
    make: str = "lib.K()"
    top: str = ""
    base: str = "object"

    def library(self) -> str:
        """The source of the library."""
        return f"{HEAD}class K({self.base}):\n{indent(self.body, '    ')}\n"

    def program(self, library: str, use: str) -> str:
        """The source of a program with this use; `library`: the name of the library."""
        return PROGRAM.format(library=library, top=self.top, make=self.make, use=indent(use, "        "))


def _method(signature: str, result: str, *uses: str, more: str = "", **others: str) -> Protocol:
    name, _, args = signature.partition(" ")
    body = f"def {name}({args or 'self'}):\n    return step({result})\n{more}"
    return Protocol(body, uses, **others)


_SORT: Final = ("sorted([x, x])", "min(x, x)", "bisect.insort([x], x)", "heapq.heapify([x, x])")
_ITERATION: Final = (
    "for _ in x:\n    pass", "list(x)", "[*x]", "a, = x", "sum(x)", "dict.fromkeys(x)", "set().update(x)", "[].extend(x)",
    "l = []\nl += x", "1 in x", "list(zip(x))", "list(enumerate(x))", "list(map(abs, x))", "f(*x)", "max(x)", "{*x}",
    "list(itertools.chain(x))", "any(x)", "sorted(x)", "l = [0]\nl[:] = x", "[i for i in x]", "bytes(x)",
    "tuple(x)", "def g():\n    yield from x\nlist(g())", "{i: i for i in x}", "heapq.nsmallest(1, x)",
    "functools.reduce(f, x)", "list(itertools.product(x))", "min(x, default=0)", "frozenset(x)", "math.prod(x)",
)  # fmt: skip
_TRUTH: Final = (
    "bool(x)", "if x:\n    pass", "not x", "x and 1", "x or 1", "any([x])", "while x:\n    break", "assert x", "all([x])",
    "[1 for _ in '1' if x]", "list(filter(None, [x]))", "1 if x else 2", "operator.not_(x)", "list(itertools.compress('a', [x]))",
)  # fmt: skip
_INDEX: Final = (
    "[1, 2][x]", "range(x)", "hex(x)", "operator.index(x)", "'a' * x", "(1, 2)[x:]", "chr(x)", "[1, 2].pop(x)", "bytes(x)",
    "int(x)", "'abc'[x]", "itertools.islice('ab', x)", "round(1.5, x)", "math.factorial(x)", "[1].insert(x, 1)",
)  # fmt: skip
_CALLED: Final = (
    "x()", "list(map(x, [1]))", "sorted([1], key=x)", "list(filter(x, [1]))", "functools.reduce(x, [1, 2])", "min([1, 2], key=x)",
    "functools.partial(x)()", "next(iter(x, None), 0)", "list(itertools.takewhile(x, [1]))", "[2].sort(key=x)",
    "list(itertools.starmap(x, [(1,)]))", "operator.call(x)", "list(itertools.groupby([1], x))", "list(itertools.accumulate([1, 2], x))",
)  # fmt: skip
_PICKLED: Final = ("copy.copy(x)", "copy.deepcopy(x)", "pickle.dumps(x)")

PROTOCOLS: Final[dict[str, Protocol]] = {
    "repr": _method("__repr__", "'x'", "repr(x)", "f'{x!r}'", "'%r' % x", "str(x)", "str([x])", "ascii(x)"),
    "str": _method(
        "__str__",
        "'x'",
        "str(x)",
        "f'{x}'",
        "'%s' % x",
        "print(x, file=io.StringIO())",
        "'{}'.format(x)",
        "''.join(map(str, [x]))",
        "format(x)",
        "string.Template('$a').substitute(a=x)",
    ),
    "bytes": _method("__bytes__", "b'x'", "bytes(x)", "b'%b' % x"),
    "format": _method(
        "__format__ self, spec", "'x'", "format(x)", "f'{x:a}'", "'{:a}'.format(x)", "'{a:a}'.format_map({'a': x})"
    ),
    "hash": _method(
        "__hash__",
        "1",
        "hash(x)",
        "{x}",
        "{x: 1}",
        "{1: 2}.get(x)",
        "x in {1}",
        "dict.fromkeys([x])",
        "hash((x, 1))",
        "{1: 2}.setdefault(x)",
        "{}[x] = 1",
    ),
    "bool": _method("__bool__", "True", *_TRUTH),
    "len": _method("__len__", "1", "len(x)", *_TRUTH),
    **{
        f"{name}": _method(
            f"__{name}__ self, other", "False", f"x {sign} 1", f"1 {other} x", f"operator.{name}(x, 1)", *more
        )
        for name, sign, other, more in (
            ("lt", "<", ">", _SORT),
            ("le", "<=", ">=", ()),
            ("gt", ">", "<", ("max(x, x)",)),
            ("ge", ">=", "<=", ("0 < 1 <= x",)),
            (
                "eq",
                "==",
                "==",
                (
                    "x in [1]",
                    "[1].count(x)",
                    "(x,) == (1,)",
                    "1 in [x]",
                    "[x] == [1]",
                    "[0, x].count(0)",
                    "{'a': x} == {'a': 1}",
                    "match x:\n    case 1:\n        pass",
                    "1 in (x, 2)",
                ),
            ),
            ("ne", "!=", "!=", ()),
        )
    },
    "getattr": _method(
        "__getattr__ self, name",
        "1",
        "x.missing",
        "getattr(x, 'm')",
        "hasattr(x, 'm')",
        "operator.attrgetter('m')(x)",
        "match x:\n    case object(m=1):\n        pass",
    ),
    "getattribute": _method("__getattribute__ self, name", "1", "x.a", "getattr(x, 'm')", "hasattr(x, 'm')"),
    "setattr": _method(
        "__setattr__ self, name, value",
        "None",
        "x.a = 1",
        "setattr(x, 'a', 1)",
        "x.a, b = 1, 2",
        "for x.a in [1]:\n    pass",
    ),
    "delattr": _method("__delattr__ self, name", "None", "del x.a", "delattr(x, 'a')"),
    "dir": _method("__dir__", "[]", "dir(x)"),
    "get": _method(
        "__get__ self, obj, kind=None",
        "1",
        "x.d",
        "getattr(x, 'd')",
        "H.d",
        make="H()",
        top="class H:\n    d = lib.K()",
    ),
    "set": _method(
        "__set__ self, obj, value", "None", "x.d = 1", "setattr(x, 'd', 1)", make="H()", top="class H:\n    d = lib.K()"
    ),
    "delete": _method("__delete__ self, obj", "None", "del x.d", make="H()", top="class H:\n    d = lib.K()"),
    "set name": _method("__set_name__ self, owner, name", "None", "class C:\n    d = x", "type('C', (), {'d': x})"),
    "init subclass": Protocol(
        "def __init_subclass__(cls):\n    step()", ("class C(lib.K):\n    pass", "type('C', (lib.K,), {})")
    ),
    "class getitem": Protocol("def __class_getitem__(cls, item):\n    return step()", ("lib.K[int]",)),
    "mro entries": _method("__mro_entries__ self, bases", "()", "class C(x):\n    pass"),
    "new": Protocol("def __new__(cls):\n    return step(object.__new__(cls))", ("lib.K()",), make="None"),
    "init": Protocol("def __init__(self):\n    step()", ("lib.K()", "x = lib.K\nx()"), make="None"),
    "finaliser": Protocol("def __del__(self):\n    step()", ("y = lib.K()\ndel y",), make="None"),
    "metaclass call": Protocol(
        "def __call__(cls):\n    return step()",
        ("x()",),
        make="T()",
        base="type",
        top="T = functools.cache(lambda: lib.K('C', (), {}))",
    ),
    **{
        f"metaclass {name}": Protocol(
            f"def __{name}__(cls{args}):\n    return step({result})",
            (use,),
            make="T()",
            base="type",
            top="T = functools.cache(lambda: lib.K('C', (), {}))",
        )
        for name, args, result, use in (
            ("instancecheck", ", obj", "True", "isinstance(1, x)"),
            ("subclasscheck", ", kind", "True", "issubclass(int, x)"),
            ("getattr", ", name", "1", "x.missing"),
            ("len", "", "1", "len(x)"),
            ("iter", "", "iter(())", "list(x)"),
            ("contains", ", key", "True", "1 in x"),
            ("getitem", ", key", "1", "x[0]"),
            ("or", ", other", "1", "x | 1"),
            ("setattr", ", name, value", "None", "x.a = 1"),
        )
    },
    "prepare": Protocol(
        "def __prepare__(name, bases):\n    return step({})\n__prepare__ = staticmethod(__prepare__)",
        ("class C(metaclass=lib.K):\n    pass",),
        make="None",
        base="type",
    ),
    "subclasshook": Protocol(
        "@classmethod\ndef __subclasshook__(cls, kind):\n    return step(True)",
        ("isinstance(x, lib.K)", "issubclass(set, lib.K)"),
        make="object()",
        base="metaclass=abc.ABCMeta",
    ),
    "call": _method("__call__ self, *args", "1", *_CALLED),
    "method": _method(
        "m", "1", "x.m()", "operator.methodcaller('m')(x)", "m = x.m\nm()", "lib.K.m(x)", "f = getattr(x, 'm')\nf()"
    ),
    "class method": Protocol("@classmethod\ndef m(cls):\n    return step()", ("x.m()", "lib.K.m()")),
    "static method": Protocol("@staticmethod\ndef m():\n    return step()", ("x.m()", "lib.K.m()")),
    "property": Protocol(
        "@property\ndef p(self):\n    return step(1)",
        (
            "x.p",
            "getattr(x, 'p')",
            "operator.attrgetter('p')(x)",
            "match x:\n    case object(p=1):\n        pass",
            "f'{x.p}'",
        ),
    ),
    "property setter": Protocol(
        "@property\ndef p(self):\n    return 1\n@p.setter\ndef p(self, value):\n    step()", ("x.p = 1",)
    ),
    "length hint": _method(
        "__length_hint__", "1", "operator.length_hint(x)", "list(x)", more="def __iter__(self):\n    return iter(())"
    ),
    "getitem": _method(
        "__getitem__ self, key",
        "1",
        "x[0]",
        "x[0:1]",
        "operator.getitem(x, 0)",
        "operator.itemgetter(0)(x)",
        "'%(a)s' % x",
        "1 in x",
        "'{0[0]}'.format(x)",
        "next(iter(x))",
    ),
    "setitem": _method(
        "__setitem__ self, key, value", "None", "x[0] = 1", "operator.setitem(x, 0, 1)", "x[0:1] = 1", "x[0], a = 1, 2"
    ),
    "delitem": _method("__delitem__ self, key", "None", "del x[0]", "operator.delitem(x, 0)"),
    "missing": _method("__missing__ self, key", "1", "x[0]", "'{a}'.format_map(x)", base="dict"),
    "iter": _method("__iter__", "iter([1])", *_ITERATION),
    "next": _method(
        "__next__",
        "1",
        "next(x)",
        "for _ in x:\n    break",
        "a = zip(x, [1])\nnext(a)",
        more="def __iter__(self):\n    return self",
    ),
    "keys": Protocol(
        "def keys(self):\n    return step(['a'])\ndef __getitem__(self, key):\n    return 1",
        ("{**x}", "dict(x)", "f(**x)", "{}.update(x)"),
    ),
    "reversed": _method("__reversed__", "iter([1])", "reversed(x)"),
    "contains": _method("__contains__ self, key", "True", "1 in x", "1 not in x", "operator.contains(x, 1)"),
    **{
        f"{name}": _method(
            f"__{name}__ self, other",
            "1",
            f"x {sign} 1",
            f"operator.{name}{'_' if name in ('and', 'or') else ''}(x, 1)",
        )
        for name, sign in (
            ("add", "+"),
            ("sub", "-"),
            ("mul", "*"),
            ("truediv", "/"),
            ("floordiv", "//"),
            ("mod", "%"),
            ("pow", "**"),
            ("matmul", "@"),
            ("and", "&"),
            ("or", "|"),
            ("xor", "^"),
            ("lshift", "<<"),
            ("rshift", ">>"),
        )
    },
    **{
        f"r{name}": _method(f"__r{name}__ self, other", "1", f"1 {sign} x", *more)
        for name, sign, more in (
            ("add", "+", ("sum([x])",)),
            ("sub", "-", ()),
            ("mul", "*", ("math.prod([x])",)),
            ("truediv", "/", ()),
            ("floordiv", "//", ()),
            ("mod", "%", ()),
            ("pow", "**", ("pow(2, x)",)),
            ("matmul", "@", ()),
            ("and", "&", ()),
            ("or", "|", ()),
            ("xor", "^", ()),
            ("lshift", "<<", ()),
            ("rshift", ">>", ()),
        )
    },
    **{
        f"i{name}": _method(f"__i{name}__ self, other", "self", f"y = x\ny {sign}= 1", f"operator.i{name}(x, 1)")
        for name, sign in (
            ("add", "+"),
            ("sub", "-"),
            ("mul", "*"),
            ("truediv", "/"),
            ("floordiv", "//"),
            ("mod", "%"),
            ("pow", "**"),
            ("matmul", "@"),
            ("and", "&"),
            ("or", "|"),
            ("xor", "^"),
            ("lshift", "<<"),
            ("rshift", ">>"),
        )
    },
    "divmod": _method("__divmod__ self, other", "1", "divmod(x, 1)"),
    "rdivmod": _method("__rdivmod__ self, other", "1", "divmod(1, x)"),
    "neg": _method("__neg__", "1", "-x", "operator.neg(x)"),
    "pos": _method("__pos__", "1", "+x"),
    "invert": _method("__invert__", "1", "~x"),
    "abs": _method("__abs__", "1", "abs(x)", "list(map(abs, [x]))"),
    "int": _method("__int__", "1", "int(x)", "'%d' % x"),
    "float": _method("__float__", "1.0", "float(x)", "math.sqrt(x)", "'%f' % x"),
    "complex": _method("__complex__", "1j", "complex(x)"),
    "index": _method("__index__", "1", *_INDEX),
    "round": _method("__round__ self, n=None", "1", "round(x)"),
    "trunc": _method("__trunc__", "1", "math.trunc(x)"),
    "floor": _method("__floor__", "1", "math.floor(x)"),
    "ceil": _method("__ceil__", "1", "math.ceil(x)"),
    "enter": _method("__enter__", "1", "with x:\n    pass", more="def __exit__(self, *args):\n    pass"),
    "exit": _method("__exit__ self, *args", "False", "with x:\n    pass", more="def __enter__(self):\n    pass"),
    "await": _method("__await__", "iter(())", "async def g():\n    await x\ndrive(g())"),
    "aiter": _method(
        "__aiter__",
        "self",
        "async def g():\n    async for _ in x:\n        pass\ndrive(g())",
        more="async def __anext__(self):\n    raise StopAsyncIteration",
    ),
    "anext": Protocol(
        "def __aiter__(self):\n    return self\nasync def __anext__(self):\n    step()\n    raise StopAsyncIteration",
        ("async def g():\n    async for _ in x:\n        pass\ndrive(g())",),
    ),
    "aenter": Protocol(
        "async def __aenter__(self):\n    step()\nasync def __aexit__(self, *args):\n    pass",
        ("async def g():\n    async with x:\n        pass\ndrive(g())",),
    ),
    "aexit": Protocol(
        "async def __aenter__(self):\n    pass\nasync def __aexit__(self, *args):\n    step()",
        ("async def g():\n    async with x:\n        pass\ndrive(g())",),
    ),
    "copy": _method("__copy__", "1", "copy.copy(x)"),
    "deepcopy": _method("__deepcopy__ self, memo", "1", "copy.deepcopy(x)", "copy.deepcopy([x])"),
    "reduce": _method("__reduce__", "(int, ())", *_PICKLED),
    "reduce_ex": _method("__reduce_ex__ self, protocol", "(int, ())", *_PICKLED),
    "getstate": _method("__getstate__", "None", "copy.copy(x)", "copy.deepcopy(x)"),
    "fspath": _method("__fspath__", "'a'", "os.fspath(x)", "os.path.join(x, 'a')", "os.path.basename(x)"),
    "sizeof": _method("__sizeof__", "1", "sys.getsizeof(x)"),
}
