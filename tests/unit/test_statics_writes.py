"""Writes to a field of an object that has escaped, by many routes: none may be missed. One route a row."""

import pytest

from dpor.statics.facts import analyse

HEAD = """\
import threading
shared = []
class C:
    def __init__(self):
        self.x = 1
"""
OTHER = """\
kept = []
def keep(c):
    kept.append(c)
    c.x = 2
"""

ROUTES = {
    "return self": (
        "class D(C):\n  def me(self): return self\ndef main():\n  c=D(); shared.append(c); c.me().x=2",
        "C.x",
    ),
    "iter self": (
        "class D(C):\n"
        "  def __iter__(self): return self\n"
        "  def __next__(self): self.x=2\n"
        "def main():\n"
        "  d=D(); shared.append(d)\n"
        "  for y in d: pass",
        "C.x",
    ),
    "type()": (
        "def main():\n  c=C(); d=type(c)(); shared.append(d); d.x=2",
        "C.x",
    ),
    "unpack alias": (
        "def main():\n  c=C(); p=(c,); (a,)=p; a.x=2",
        "C.x",
    ),
    "star kw": (
        "def put(**k): k['c'].x=2\ndef main():\n  put(c=C())",
        "C.x",
    ),
    "dict get": (
        "def main():\n  c=C(); d={'a':c}; d.get('a').x=2",
        "C.x",
    ),
    "copy": (
        "import copy\ndef main():\n  c=C(); d=copy.copy(c); d.x=2",
        "C.x",
    ),
    "dataclass": (
        "import dataclasses\n"
        "@dataclasses.dataclass\n"
        "class D:\n"
        "  x: int = 0\n"
        "def main():\n"
        "  d=D(1); shared.append(d); d.x=2",
        "D.x",
    ),
    "what __enter__ returns": (
        "class D(C):\n"
        "  def __enter__(self): return self\n"
        "  def __exit__(self,*a): pass\n"
        "def main():\n"
        "  d=D(); shared.append(d)\n"
        "  with d as e: e.x=2",
        "C.x",
    ),
    "a conditional expression": (
        "def main():\n  c=C(); d=C(); e=c if input() else d; shared.append(c); e.x=2",
        "C.x",
    ),
    "an alias of the last turn": (
        "def main():\n  p=None\n  for i in range(3):\n    c=C()\n    if p: p.x=2\n    shared.append(c); p=c",
        "C.x",
    ),
    "recursion": (
        "def f(c,n):\n  if n: f(c,n-1)\n  c.x=2\n  shared.append(c)\ndef main(): f(C(),3)",
        "C.x",
    ),
    "operator ret": (
        "class D(C):\n  def __add__(self,o):\n    shared.append(self)\n    return self\ndef main():\n  d=D()+1; d.x=2",
        "C.x",
    ),
    "prop ret": (
        "class D(C):\n  @property\n  def me(self): return self\ndef main():\n  d=D(); shared.append(d); d.me.x=2",
        "C.x",
    ),
    "partial": (
        "import functools\ndef s(c): c.x=2\ndef main():\n  c=C(); f=functools.partial(s,c); shared.append(c); f()",
        "C.x",
    ),
    "max": (
        "def main():\n  c=C(); shared.append(c); max([c],key=id).x=2",
        "C.x",
    ),
    "setdefault": (
        "def main():\n  d={}; c=C(); d.setdefault(1,c); c.x=2",
        "C.x",
    ),
    "init twice": (
        "def main():\n  c=C(); shared.append(c); c.__init__()",
        "C.x",
    ),
    "C.__init__(c)": (
        "def main():\n  c=C(); shared.append(c); C.__init__(c)",
        "C.x",
    ),
    "getattr": (
        "def main():\n  shared.append(C()); getattr(shared,'pop')().x=2",
        "C.x",
    ),
    "nonlocal": (
        "def main():\n  c=None\n  def f():\n    nonlocal c\n    c=C()\n  f(); c.x=2",
        "C.x",
    ),
    "class var": (
        "class D: pass\ndef main():\n  D.c=C(); D.c.x=2",
        "C.x",
    ),
    "object.__setattr__": (
        "def main():\n  c=C(); shared.append(c); object.__setattr__(c,'x',2)",
        "C.x",
    ),
    "vars": (
        "def main():\n  c=C(); shared.append(c); vars(c)['x']=2",
        "C.x",
    ),
    "lambda default": (
        "def main():\n  c=C(); f=lambda c=c: c; c.x=2",
        "C.x",
    ),
    "yield": (
        "def g():\n  c=C()\n  yield c\n  c.x=2\ndef main():\n  shared.extend(g())",
        "C.x",
    ),
    "thread arg write": (
        "def w(c): c.x=2\ndef main():\n  threading.Thread(target=w,args=(C(),)).start()",
        "C.x",
    ),
    "super bound": (
        "class D(C):\n"
        "  def __init__(self):\n"
        "    super().__init__(); shared.append(self)\n"
        "class E(D):\n"
        "  def __init__(self):\n"
        "    super().__init__(); self.x=2\n"
        "def main(): E()",
        "C.x",
    ),
    "genexpr": (
        "def main():\n  c=C(); shared.append(c)\n  for d in (e for e in shared): d.x=2",
        "C.x",
    ),
    "while else/finally": (
        "def f(c):\n  try:\n    return c\n  finally:\n    shared.append(c)\ndef main(): f(C()).x=2",
        "C.x",
    ),
    "cls attr func": (
        "class D(C):\n"
        "  @classmethod\n"
        "  def make(cls): \n"
        "    c=cls(); shared.append(c); return c\n"
        "def main(): D.make().x=2",
        "C.x",
    ),
    "tuple ret": (
        "def f():\n  c=C(); shared.append(c); return c,1\ndef main():\n  c,_=f(); c.x=2",
        "C.x",
    ),
    "global in other func": (
        "g=None\ndef s():\n  global g\n  g=C()\ndef main():\n  s(); g.x=2",
        "C.x",
    ),
    "module attr": (
        "import other\ndef main():\n  other.keep(C())",
        "C.x",
    ),
    "deque": (
        "import collections\ndef main():\n  d=collections.deque(); c=C(); d.append(c); d.popleft().x=2",
        "C.x",
    ),
    "queue": (
        "import queue\nq=queue.Queue()\ndef main():\n  q.put(C()); q.get().x=2",
        "C.x",
    ),
    "defaultdict": (
        "import collections\ndef main():\n  d=collections.defaultdict(C); d[1].x=2",
        "C.x",
    ),
    "dict subclass": (
        "class M(dict): pass\ndef main():\n  m=M(); m['a']=C(); m['a'].x=2",
        "C.x",
    ),
    "list subclass": (
        "class M(list): pass\ndef main():\n  m=M(); m.append(C())\n  for y in m: y.x=2",
        "C.x",
    ),
    "namedtuple": (
        "import collections\nP=collections.namedtuple('P','a')\ndef main():\n  p=P(C()); p.a.x=2",
        "C.x",
    ),
    "threadlocal": (
        "loc=threading.local()\ndef main():\n  loc.c=C(); loc.c.x=2",
        "C.x",
    ),
    "weakref": (
        "import weakref\ndef main():\n  c=C(); r=weakref.ref(c); r().x=2",
        "C.x",
    ),
    "condition": (
        "class D(C):\n"
        "  def __init__(self):\n"
        "    self.x=1; self.cond=threading.Condition()\n"
        "  def set(self):\n"
        "    with self.cond: self.x=2\n"
        "def main():\n"
        "  d=D(); shared.append(d); d.set()",
        "C.x",
    ),
    "reversed": (
        "def main():\n  shared.append(C())\n  for c in reversed(shared): c.x=2",
        "C.x",
    ),
    "zip": (
        "def main():\n  shared.append(C())\n  for c,d in zip(shared,shared): c.x=2",
        "C.x",
    ),
    "sorted": (
        "def main():\n  shared.append(C())\n  sorted(shared,key=id)[0].x=2",
        "C.x",
    ),
    "dict comp": (
        "def main():\n  c=C(); d={1:c for i in (1,)}; d[1].x=2",
        "C.x",
    ),
    "slots": (
        "class S:\n  __slots__=('x',)\n  def __init__(self): self.x=1\ndef main():\n  s=S(); shared.append(s); s.x=2",
        "S.x",
    ),
    "property setter": (
        "class D(C):\n"
        "  @property\n"
        "  def y(self): return 1\n"
        "  @y.setter\n"
        "  def y(self,v): self.x=v\n"
        "def main():\n"
        "  d=D(); shared.append(d); d.y=2",
        "C.x",
    ),
    "cellwrite": (
        "def main():\n  c=C()\n  def w(): c.x=2\n  threading.Thread(target=w).start()",
        "C.x",
    ),
    "iter()": (
        "def main():\n  shared.append(C()); it=iter(shared); next(it).x=2",
        "C.x",
    ),
    "list()": (
        "def main():\n  shared.append(C()); list(shared)[0].x=2",
        "C.x",
    ),
    "exc attr": (
        "class E(Exception): pass\ndef main():\n  try: raise E(C())\n  except E as e: e.args[0].x=2",
        "C.x",
    ),
    "async": (
        "import asyncio\nasync def a(c): c.x=2\ndef main():\n  c=C(); shared.append(c); asyncio.run(a(c))",
        "C.x",
    ),
    "setattr const": (
        "def main():\n  c=C(); shared.append(c); setattr(c,'x',2)",
        "C.x",
    ),
}


@pytest.mark.parametrize(("body", "field"), ROUTES.values(), ids=ROUTES)
def test_the_field_is_not_immutable(body: str, field: str) -> None:
    facts = analyse({"m.py": f"{HEAD}{body}\n", "other.py": OTHER}, "m.py::main")
    assert field not in {str(found) for found in facts.immutable}
