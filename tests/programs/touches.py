"""One small program for each way of touching a shared object, with the number of its outcomes. Each returns what the
threads saw."""

import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import logging
import operator
import queue
import threading
import types
import weakref
from concurrent.futures import ThreadPoolExecutor


def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@dataclasses.dataclass
class P:
    x: int = 0
    y: int = 0


class Slots:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 0


def dataclass_equality():
    p = P()
    q = P()
    seen = []

    def w():
        p.x = 1

    def r():
        seen.append(p == q)

    run(w, r)
    return seen


def repr_():
    p = P()
    seen = []

    def w():
        p.x = 1

    def r():
        seen.append(repr(p))

    run(w, r)
    return seen


def fstring():
    p = P()
    seen = []

    def w():
        p.x = 1

    def r():
        seen.append(f"{p}")

    run(w, r)
    return seen


def slots():
    p = Slots()
    seen = []

    def w():
        p.a = 1

    def r():
        seen.append(p.a)

    run(w, r)
    return seen


def counter():
    c = collections.Counter()

    def w():
        c["a"] += 1

    run(w, w)
    return dict(c)


def simple_namespace():
    c = types.SimpleNamespace(n=0)

    def w():
        c.n += 1

    run(w, w)
    return c.n


def membership():
    p = P()
    seen = []

    def w():
        p.x = 1

    def r():
        seen.append(p in [P(1, 0)])

    run(w, r)
    return seen


def copy_of_vars():
    p = P()
    seen = []

    def w():
        p.x = 1

    def r():
        seen.append(dict(vars(p)))

    run(w, r)
    return seen


def ordered_dict():
    d = collections.OrderedDict()
    run(lambda: d.update(a=1), lambda: d.update(b=1))
    return list(d)


def count_iterator():
    c = itertools.count()
    out = []

    def f():
        out.append(next(c))

    run(f, f)
    return out


def heap_queue():
    h = [5]
    seen = []

    def w():
        heapq.heappush(h, 1)

    def r():
        seen.append(heapq.heappop(h))

    run(w, r)
    return seen, h


def context_manager():
    class A:
        def __enter__(self):
            self.k = 1
            return self

        def __exit__(self, *a):
            self.k = 0

    a = A()
    a.k = 0
    seen = []

    def w():
        with a:
            pass

    def r():
        seen.append(a.k)

    run(w, r)
    return seen


def partial():
    p = P()

    def add(obj, n):
        obj.x += n

    f = functools.partial(add, p)
    run(lambda: f(1), lambda: f(1))
    return p.x


def shared_generator():
    def g():
        yield 1
        yield 2

    it = g()
    out = []

    def f():
        out.append(next(it))

    run(f, f)
    return sorted(out)


def property_():
    class C:
        def __init__(self):
            self._v = 0

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, x):
            self._v = x

    c = C()

    def f():
        c.v += 1

    run(f, f)
    return c.v


def fallback_getattr():
    class C:
        def __init__(self):
            self.d = {}

        def __getattr__(self, n):
            if n == "d":
                raise AttributeError
            return self.d[n]

    c = C()
    c.d["k"] = 0
    out = []

    def w():
        c.d["k"] = 1

    def r():
        out.append(c.k)

    run(w, r)
    return out


def global_deleted():
    global zzz
    zzz = 1
    out = []

    def w():
        global zzz
        del zzz

    def r():
        try:
            out.append(zzz)
        except NameError:
            out.append("gone")

    run(w, r)
    return out


def method_replaced():
    class C:
        def m(self):
            return 1

    c = C()
    out = []

    def w():
        C.m = lambda self: 2

    def r():
        out.append(c.m())

    run(w, r)
    return out


def method_shadowed():
    class C:
        def m(self):
            return 1

    c = C()
    out = []

    def w():
        c.m = lambda: 2

    def r():
        out.append(c.m())

    run(w, r)
    return out


def computed_setattr():
    p = P()
    out = []

    def w():
        setattr(p, "x", 7)

    def r():
        out.append(getattr(p, "x"))

    run(w, r)
    return out


def store_through_dict():
    p = P()
    out = []

    def w():
        p.__dict__["x"] = 7

    def r():
        out.append(p.x)

    run(w, r)
    return out


def length_of_dict():
    p = P()
    out = []

    def w():
        p.z = 7

    def r():
        out.append(len(p.__dict__))

    run(w, r)
    return out


def weak_reference():
    class C:
        pass

    c = C()
    c.n = 0
    wr = weakref.ref(c)

    def f():
        wr().n += 1

    run(f, f)
    return c.n


def attrgetter():
    p = P()
    out = []
    g = operator.attrgetter("x")

    def w():
        p.x = 4

    def r():
        out.append(g(p))

    run(w, r)
    return out


def sort_by_key():
    class K:
        def __init__(s, v):
            s.v = v

    a = [K(2), K(1)]
    out = []

    def w():
        a[0].v = 0

    def r():
        out.append([k.v for k in sorted(a, key=lambda k: k.v)])

    run(w, r)
    return out


def join_strings():
    l = ["a"]
    out = []

    def w():
        l.append("b")

    def r():
        out.append(",".join(l))

    run(w, r)
    return out


def spread():
    l = [1]
    out = []

    def g(*a):
        return a

    def w():
        l.append(2)

    def r():
        out.append(g(*l))

    run(w, r)
    return out


def percent_format():
    l = [1]
    out = []

    def w():
        l.append(2)

    def r():
        out.append("%s" % l)

    run(w, r)
    return out


def match_class():
    p = P()
    out = []

    def w():
        p.x = 1
        p.y = 1

    def r():
        match p:
            case P(x=0, y=0):
                out.append("00")
            case P(x=1, y=1):
                out.append("11")
            case P(x=1, y=0):
                out.append("10")
            case _:
                out.append("other")

    run(w, r)
    return out


def simple_queue():
    q = queue.SimpleQueue()
    out = []

    def w():
        q.put(1)

    def r():
        try:
            out.append(q.get(timeout=1))
        except queue.Empty:
            out.append("e")

    run(w, r)
    return out


def list_comprehension():
    l = [1, 2]
    out = []

    def w():
        l[1] = 5

    def r():
        out.append([x for x in l])

    run(w, r)
    return out


def zip_and_enumerate():
    l = [1, 2]
    out = []

    def w():
        l[1] = 5

    def r():
        out.append(list(zip(l, enumerate(l))))

    run(w, r)
    return out


def log_records():
    recs = []

    class H(logging.Handler):
        def emit(self, r):
            recs.append(r.getMessage())

    log = logging.getLogger("y")
    log.addHandler(H())
    log.propagate = False
    run(lambda: log.error("a"), lambda: log.error("b"))
    return recs


def shallow_copy():
    p = P()
    seen = []

    def w():
        p.x = 1

    def r():
        seen.append(copy.copy(p).x)

    run(w, r)
    return seen


def barrier():
    b = threading.Barrier(2)
    out = []

    def f(i):
        out.append(b.wait())

    run(lambda: f(0), lambda: f(1))
    return sorted(out)


def timer():
    out = []
    t = threading.Timer(1, out.append, [1])
    t.start()
    out.append(0)
    t.join()
    return out


def thread_local():
    l = threading.local()
    out = []

    def f(i):
        l.x = i
        out.append(l.x)

    run(lambda: f(0), lambda: f(1))
    return sorted(out)


def pool():
    with ThreadPoolExecutor(2) as ex:
        return list(ex.map(lambda x: x * 2, [1, 2]))


OUTCOMES = {
    dataclass_equality: 2,
    repr_: 2,
    fstring: 2,
    slots: 2,
    counter: 2,
    simple_namespace: 2,
    membership: 2,
    copy_of_vars: 2,
    ordered_dict: 2,
    count_iterator: 2,
    heap_queue: 2,
    context_manager: 2,
    partial: 2,
    shared_generator: 3,
    property_: 2,
    fallback_getattr: 2,
    global_deleted: 2,
    method_replaced: 2,
    method_shadowed: 2,
    computed_setattr: 2,
    store_through_dict: 2,
    length_of_dict: 2,
    weak_reference: 2,
    attrgetter: 2,
    sort_by_key: 3,
    join_strings: 2,
    spread: 2,
    percent_format: 2,
    match_class: 3,
    simple_queue: 2,
    list_comprehension: 2,
    zip_and_enumerate: 2,
    log_records: 2,
    shallow_copy: 2,
    barrier: 1,
    timer: 2,
    thread_local: 1,
    pool: 1,
}
