"""What calls what: every construct that calls a function must be seen to. One rule a row.

In each program, `main` writes `C.hit` through the construct, in the function `touch` or in what the row defines.
"""

import pytest

from dpor.statics.accesses import Access
from dpor.statics.facts import Facts, ProgramPoint, analyse

HEAD = """\
import threading, functools, contextlib, concurrent.futures
class C:
    pass
c = C()
def touch(*args, **kwargs):
    c.hit = 1
"""

REACHED = {
    "a call": "touch()",
    "an alias": "f = touch\nf()",
    "a method": "class D:\n def m(self):\n  touch()\nD().m()",
    "an inherited method": "class B:\n def m(self):\n  touch()\nclass D(B):\n pass\nD().m()",
    "an overriding method": "class B:\n def m(self):\n  pass\nclass D(B):\n m = touch\nD().m()",
    "super()": "class B:\n def m(self):\n  touch()\nclass D(B):\n def m(self):\n  super().m()\nD().m()",
    "a sibling through super()": (
        "class A:\n def m(self):\n  pass\nclass B(A):\n def m(self):\n  super().m()\n"
        "class D(A):\n def m(self):\n  touch()\nclass E(B, D):\n pass\nE().m()"
    ),
    "a static method": "class D:\n @staticmethod\n def m():\n  touch()\nD.m()",
    "a class method": "class D:\n @classmethod\n def m(cls):\n  touch()\nD().m()",
    "a property": "class D:\n @property\n def p(self):\n  touch()\nD().p",
    "a property's setter": (
        "class D:\n @property\n def p(self):\n  pass\n @p.setter\n def p(self, v):\n  touch()\nD().p = 1"
    ),
    "a descriptor": "class G:\n def __get__(self, o, t):\n  touch()\nclass D:\n p = G()\nD().p",
    "a descriptor's __set__": "class G:\n def __set__(self, o, v):\n  touch()\nclass D:\n p = G()\nD().p = 1",
    "__getattr__": "class D:\n def __getattr__(self, n):\n  touch()\nD().anything",
    "__setattr__": "class D:\n def __setattr__(self, n, v):\n  touch()\nD().anything = 1",
    "an operator": "class D:\n def __add__(self, o):\n  touch()\nD() + 1",
    "a reflected operator": "class D:\n def __radd__(self, o):\n  touch()\n1 + D()",
    "an augmented operator": "class D:\n def __iadd__(self, o):\n  touch()\nd = D()\nd += 1",
    "a comparison": "class D:\n def __eq__(self, o):\n  touch()\nD() == 1",
    "__eq__ in `in`": "class D:\n def __eq__(self, o):\n  touch()\n1 in [D()]",
    "__hash__ of a key": "class D:\n def __hash__(self):\n  touch()\nd = {D(): 1}",
    "__hash__ of an item": "class D:\n def __hash__(self):\n  touch()\nd = {}\nd[D()] = 1",
    "__lt__ in sort": "class D:\n def __lt__(self, o):\n  touch()\nx = [D()]\nx.sort()",
    "__bool__": "class D:\n def __bool__(self):\n  touch()\nif D():\n pass",
    "__len__ of a condition": "class D:\n def __len__(self):\n  touch()\nnot D()",
    "__str__ in an f-string": "class D:\n def __str__(self):\n  touch()\nf'{D()}'",
    "__repr__ of an element": "class D:\n def __repr__(self):\n  touch()\nprint([D()])",
    "__str__ by %": "class D:\n def __str__(self):\n  touch()\n'%s' % D()",
    "__format__ by format": "class D:\n def __format__(self, s):\n  touch()\n'{}'.format(D())",
    "__call__": "class D:\n def __call__(self):\n  touch()\nD()()",
    "__getitem__": "class D:\n def __getitem__(self, k):\n  touch()\nD()[1]",
    "__setitem__": "class D:\n def __setitem__(self, k, v):\n  touch()\nD()[1] = 2",
    "__delitem__": "class D:\n def __delitem__(self, k):\n  touch()\ndel D()[1]",
    "__contains__": "class D:\n def __contains__(self, k):\n  touch()\n1 in D()",
    "__iter__ in for": "class D:\n def __iter__(self):\n  touch()\n  return iter([])\nfor x in D():\n pass",
    "__next__ in for": (
        "class D:\n def __iter__(self):\n  return self\n def __next__(self):\n  touch()\nfor x in D():\n pass"
    ),
    "__iter__ by list()": "class D:\n def __iter__(self):\n  touch()\n  return iter([])\nlist(D())",
    "__iter__ by unpacking": "class D:\n def __iter__(self):\n  touch()\n  return iter([])\na, b = D()",
    "__iter__ by a starred argument": "class D:\n def __iter__(self):\n  touch()\n  return iter([])\nprint(*D())",
    "__enter__": "class D:\n def __enter__(self):\n  touch()\n def __exit__(self, *a):\n  pass\nwith D():\n pass",
    "__exit__": "class D:\n def __enter__(self):\n  pass\n def __exit__(self, *a):\n  touch()\nwith D():\n pass",
    "__new__": "class D:\n def __new__(cls):\n  touch()\nD()",
    "__init_subclass__": "class B:\n def __init_subclass__(cls):\n  touch()\nclass D(B):\n pass",
    "a metaclass": "class M(type):\n def __call__(cls):\n  touch()\nclass D(metaclass=M):\n pass\nD()",
    "a decorator": "def deco(f):\n def inner():\n  touch()\n  return f()\n return inner\n@deco\ndef g():\n pass\ng()",
    "a decorated function": "def deco(f):\n def inner():\n  return f()\n return inner\n@deco\ndef g():\n touch()\ng()",
    "an unknown decorator": "@functools.lru_cache\ndef g():\n touch()\ng()",
    "a context manager made of a generator": "@contextlib.contextmanager\ndef g():\n touch()\n yield\nwith g():\n pass",
    "a closure": "def make():\n t = touch\n def inner():\n  t()\n return inner\nmake()()",
    "a lambda": "(lambda: touch())()",
    "a default": "def f(g=touch):\n g()\nf()",
    "a keyword": "def f(*, g):\n g()\nf(g=touch)",
    "**kwargs": "def f(**k):\n k['g']()\nf(g=touch)",
    "*args": "def f(*a):\n a[0]()\nf(touch)",
    "unpacked arguments": "def f(g):\n g()\nf(*[touch])",
    "a generator": "def g():\n touch()\n yield\nfor x in g():\n pass",
    "a generator resumed by next": "def g():\n touch()\n yield\nnext(g())",
    "a generator resumed by send": "def g():\n touch()\n yield\ng().send(None)",
    "yield from": "def g():\n touch()\n yield\ndef h():\n yield from g()\nfor x in h():\n pass",
    "what a generator gives": "def g():\n yield touch\nfor f in g():\n f()",
    "a comprehension": "[touch() for x in (1, 2)]",
    "a generator expression": "list(touch() for x in (1, 2))",
    "a coroutine": "import asyncio\nasync def g():\n touch()\nasyncio.run(g())",
    "await": "import asyncio\nasync def g():\n touch()\nasync def h():\n await g()\nasyncio.run(h())",
    "partial": "functools.partial(touch, 1)()",
    "a partial's argument": "def f(g):\n g()\nfunctools.partial(f, touch)()",
    "a partial of a partial": "def f(g, h):\n g()\nfunctools.partial(functools.partial(f, touch), 1)()",
    "what a partial is given by a keyword": "def f(*, g):\n g()\nfunctools.partial(f, g=touch)()",
    "a slice's bound": "class D:\n def __getitem__(self, k):\n  k.start()\nD()[touch:]",
    "an item of a union": "x = set().union({touch})\nx.pop()()",
    "__eq__ in a nested list": "class D:\n def __eq__(self, o):\n  touch()\n[[D()]] == [[1]]",
    "what sum adds": "class D:\n def __add__(self, o):\n  return touch\nsum([D(), D()], D())()",
    "a callback for map": "list(map(touch, [1]))",
    "a key function": "sorted([1], key=touch)",
    "a key of min": "min([1], key=touch)",
    "a callback for unknown code": "import foreign\nforeign.f(touch)",
    "an object for unknown code": "import foreign\nclass D:\n def m(self):\n  touch()\nforeign.f(D())",
    "Thread(target=...)": "threading.Thread(target=touch).start()",
    "a thread's arguments": "def f(g):\n g()\nthreading.Thread(target=f, args=(touch,)).start()",
    "a thread's run": "class T(threading.Thread):\n def run(self):\n  touch()\nT().start()",
    "a subclass with a target": "class T(threading.Thread):\n pass\nT(target=touch).start()",
    "Timer": "threading.Timer(1, touch).start()",
    "submit": "concurrent.futures.ThreadPoolExecutor().submit(touch)",
    "map of an executor": "with concurrent.futures.ThreadPoolExecutor() as p:\n p.map(touch, [1])",
    "a future's result": (
        "def f():\n return touch\nwith concurrent.futures.ThreadPoolExecutor() as p:\n p.submit(f).result()()"
    ),
    "a future's callback": "concurrent.futures.ThreadPoolExecutor().submit(len).add_done_callback(touch)",
    "a method put into a class": "class D:\n pass\nD.m = touch\nD().m()",
    "a method put into an object": "class D:\n pass\nd = D()\nd.m = touch\nd.m()",
    "setattr": "class D:\n pass\nd = D()\nsetattr(d, input(), touch)\nd.m()",
    "getattr": "class D:\n def m(self):\n  touch()\ngetattr(D(), input())()",
    "exec": "exec(input())",
    "a list": "x = []\nx.append(touch)\nx[0]()",
    "a dict": "x = {'a': touch}\nx['a']()",
    "the values of a dict": "x = {'a': touch}\nfor f in x.values():\n f()",
    "the items of a dict": "x = {'a': touch}\nfor k, f in x.items():\n f()",
    "a nested list": "x = [[touch]]\nfor y in x:\n for f in y:\n  f()",
    "enumerate": "for i, f in enumerate([touch]):\n f()",
    "a slice": "x = [touch]\nx[0:1][0]()",
    "pop": "x = [touch]\nx.pop()()",
    "concatenation": "x = [1] + [touch]\nx[1]()",
    "an exception": "try:\n raise ValueError(touch)\nexcept ValueError as e:\n e.args[0]()",
    "an exception's handler": "try:\n len(1)\nexcept ValueError:\n touch()",
    "finally": "try:\n pass\nfinally:\n touch()",
    "finally after a return": "def f():\n try:\n  return 1\n finally:\n  touch()\nf()",
    "else of a loop": "for x in []:\n pass\nelse:\n touch()",
    "match": "match 1:\n case 2:\n  pass\n case _:\n  touch()",
    "a captured element": "match [touch]:\n case [f]:\n  f()",
    "a captured attribute": "class D:\n pass\nd = D()\nd.f = touch\nmatch d:\n case D(f=g):\n  g()",
    "a conditional": "(touch if input() else len)()",
    "a walrus": "if f := touch:\n f()",
    "a global": "global g\ng = touch\ng()",
    "recursion": "def f(n):\n if n:\n  f(n - 1)\n touch()\nf(3)",
    "a class body": "class D:\n touch()",
    "an import in a function": "import other\nother.go(touch)",
}  # fmt: skip


def facts_of(body: str) -> Facts:
    inside = "\n".join(f"    {line}" for line in body.splitlines())
    sources = {"m.py": f"{HEAD}def main():\n{inside}\n", "other.py": "def go(f):\n    f()\n"}
    return analyse(sources, "m.py::main")


def accesses(facts: Facts) -> frozenset[Access]:
    main = next(i for i in facts.points_to.instances if i.function.name == "main").function
    return facts.accesses_from([ProgramPoint("m.py", main.positions[0])])


@pytest.mark.parametrize("body", REACHED.values(), ids=REACHED)
def test_the_construct_calls(body: str) -> None:
    assert any(a.mode == "w" and a.field.name in ("hit", "*") for a in accesses(facts_of(body)))


def test_what_is_not_called_is_not_there() -> None:
    assert not accesses(facts_of("len([touch])"))
