"""Calls of C code to be recorded: every method, operator and function that a plain run of CPython lets pass.

Nothing here knows which of them the runtime models, so what it has no entry for is recorded, too.
"""

from __future__ import annotations

import bisect
import builtins
import contextlib
import copy
import functools
import heapq
import io
import itertools
import json
import math
import operator
import pickle
import statistics
from collections.abc import Iterator
from textwrap import indent
from types import ModuleType

IMPORTS = """\
import array, bisect, collections, contextvars, copy, csv, decimal, functools, heapq, io, itertools, json, math
import operator, pickle, random, re, statistics, string, struct, threading, types
"""

OBJECTS = {
    "list": "x = [3, [1], 2]; y = [7, 8]",
    "list of numbers": "x = [3, 1, 2]; y = [7, 8]",
    "dict": "x = {'k': [1], 0: 2}; y = {'j': 5}",
    "OrderedDict": "x = collections.OrderedDict({'k': [1], 0: 2}); y = collections.OrderedDict({'j': 5})",
    "defaultdict": "x = collections.defaultdict(list, {'k': [1], 0: 2}); y = {'j': 5}",
    "Counter": "x = collections.Counter({'k': 1, 0: 2}); y = collections.Counter({'k': 5})",
    "ChainMap": "x = collections.ChainMap({'k': 1}, {0: 2}); y = {'j': 5}",
    "mappingproxy": "y = {'k': [1], 0: 2}; x = types.MappingProxyType(y)",
    "keys": "y = {'k': [1], 0: 2}; x = y.keys()",
    "values": "y = {'k': [1], 0: 2}; x = y.values()",
    "items": "y = {'k': [1], 0: 2}; x = y.items()",
    "set": "x = {0, 1, 2}; y = {2, 3}",
    "frozenset": "x = frozenset((0, 1, 2)); y = {2, 3}",
    "deque": "x = collections.deque([3, [1], 2]); y = [7, 8]",
    "bytearray": "x = bytearray(b'abc'); y = bytearray(b'b')",
    "array": "x = array.array('i', [3, 1, 2]); y = array.array('i', [7])",
    "memoryview": "y = bytearray(b'abc'); x = memoryview(y)",
    "tuple": "y = [1]; x = (0, y, 2)",
    "object": "class P:\n    def __init__(self): self.k = [1]\nx = P(); y = P()",
    "slots": "class P:\n    __slots__ = ('k',)\n    def __init__(self): self.k = [1]\nx = P(); y = P()",
    "class": "class x:\n    k = [1]\ny = [1]",
    "function": "def x(a=0): return a\ny = [1]",
    "SimpleNamespace": "x = types.SimpleNamespace(k=[1]); y = types.SimpleNamespace(k=2)",
    "exception": "x = ValueError('a', [1]); y = KeyError('k')",
    "list iterator": "y = [3, 1, 2]; x = iter(y)",
    "dict iterator": "y = {'k': 1, 0: 2}; x = iter(y)",
    "generator": "y = [3, 1, 2]; x = (i for i in y)",
    "map": "y = [3, 1, 2]; x = map(str, y)",
    "zip": "y = [3, 1, 2]; x = zip(y, y)",
    "enumerate": "y = [3, 1, 2]; x = enumerate(y)",
    "reversed": "y = [3, 1, 2]; x = reversed(y)",
    "chain": "y = [3, 1, 2]; x = itertools.chain(y, y)",
    "partial": "y = [3, 1, 2]; x = functools.partial(sorted, y)",
    "Context": "x = decimal.Context(prec=5); y = decimal.Decimal(3)",
    "StringIO": "x = io.StringIO('abc'); y = ['a', 'b']",
    "BytesIO": "x = io.BytesIO(b'abc'); y = bytearray(b'de')",
    "csv reader": "y = ['a,b', 'c,d']; x = csv.reader(y)",
    "Struct": "x = struct.Struct('<h'); y = bytearray(4)",
    "Random": "x = random.Random(1); y = [1, 2]",
    "Context of variables": "y = contextvars.ContextVar('y', default=0); x = contextvars.copy_context()",
    "UserList": "x = collections.UserList([3, 1]); y = [1]",
}
"""What is called: each with another object that it may be given."""

ARGUMENTS = ("", "y", "0", "'k'", "iter(y)", "0, 9", "'k', 9", "len, y", "'k', y", "b'k'")
"""What methods are given: the first `EACH` that suit."""

EACH = 3

STATEMENTS = (
    *(f"x {sign} y" for sign in ("+", "-", "*", "@", "/", "%", "|", "&", "^", "==", "!=", "<", "<=", "in", "is")),
    *(f"x {sign}= y" for sign in ("+", "-", "*", "|", "&", "^")),
    *("x * 2", "2 * x", "-x", "~x", "0 in x", "'k' in x", "x[0]", "x['k']", "x[-1]", "x[0:1]", "x[0][0]", "x['k'][0]"),
    *("x[0] = 9", "x['k'] = 9", "x['new'] = y", "x[-1] = 9", "x[0:1] = y", "del x[0]", "del x['k']", "del x[0:1]"),
    *("x.k", "x.k = y", "x.new = y", "del x.k", "x[0] += 1", "x.k += y", "x.__dict__", "x.__class__"),
    *("not x", "x and 1", "for i in x: pass", "[i for i in x]", "[*x]", "{**x}", "dict(**x)", "max(*x)"),
    *("a, b, c = x", "a, *b = x", "f'{x}'", "f'{x!r:>9}'", "'%s' % (x,)", "raise x", "x()", "next(x)", "next(x, 0)"),
    "match x:\n    case [a, *b]: pass\n    case {'k': a, **b}: pass",
    "sorted(x, key=lambda i: str(i))",
    "x.sort(key=lambda i: str(i))",
    "x.extend(i for i in y)",
    "x.update((i, i) for i in y)",
    "x.setdefault('new', y)",
    "x.pop('k', None)",
)

MODULES: tuple[ModuleType, ...] = (
    *(builtins, operator, itertools, heapq, bisect, copy, functools, json, pickle, math, statistics),
)
LEFT_OUT = {
    *("breakpoint", "copyright", "credits", "exit", "help", "input", "license", "quit", "open", "super", "exec"),
    "whichmodule",  # of `pickle`: it goes through all modules that the process has loaded
}
GIVEN_TO_FUNCTIONS = ("x", "x, y", "x, 0", "x, 'k'", "len, x", "'k', x", "x, 0, 9", "x, 'k', 9", "str, x, y", "1, x")
OBJECTS_FOR_FUNCTIONS = ("list of numbers", "dict", "set", "object", "list iterator", "bytearray", "deque")
METHODS_LEFT_OUT = {"__class__", "__class_getitem__", "__init_subclass__", "__new__", "__subclasshook__"}


def calls() -> Iterator[tuple[str, str, str]]:
    """The name of an object, the source that makes it, and a statement."""
    for name, setup in OBJECTS.items():
        statements = list(STATEMENTS)
        for method in _methods(setup):
            tried = (f"x.{method}({given})" for given in ARGUMENTS)
            statements += itertools.islice((call for call in tried if passes(setup, call)), EACH)
        for statement in dict.fromkeys(statements):
            if passes(setup, statement):
                yield name, setup, statement
    for module, name in itertools.product(MODULES, OBJECTS_FOR_FUNCTIONS):
        for function in _functions(module):
            tried = (f"{function}({given})" for given in GIVEN_TO_FUNCTIONS)
            for call in itertools.islice((call for call in tried if passes(OBJECTS[name], call)), EACH):
                yield name, OBJECTS[name], call


def _methods(setup: str) -> list[str]:
    names: dict[str, object] = {}
    exec(IMPORTS + setup, names)
    kind = type(names["x"])
    return [
        name
        for name in sorted(dir(kind))
        if callable(getattr(kind, name, None)) and name not in METHODS_LEFT_OUT and (name[0] != "_" or name[:2] == "__")
    ]


def _functions(module: ModuleType) -> list[str]:
    prefix = "" if module is builtins else f"{module.__name__}."
    return [
        prefix + name
        for name, found in sorted(vars(module).items())
        if callable(found) and name[0] != "_" and name not in LEFT_OUT
        if not (isinstance(found, type) and issubclass(found, BaseException))
        if module is builtins or getattr(found, "__module__", "").strip("_") == module.__name__
    ]


def passes(setup: str, statement: str) -> bool:
    """Does CPython do it without an error? (To raise the object is what is asked for.)"""
    names: dict[str, object] = {}
    exec(IMPORTS + setup, names)
    try:
        code = compile(statement, "statement", "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
    except Exception as error:
        return error is names["x"]
    return True


def source(setup: str, statement: str) -> str:
    """A program whose second thread does it, with the object in a global variable, where any thread can reach it."""
    body = indent(statement, " " * 8)
    return f"""{IMPORTS}
{setup}


def body():
    global x
    try:
{body}
    except Exception:
        pass


def scenario():
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
"""
