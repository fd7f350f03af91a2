"""Random programs in which one thread makes an object, shows it to others in one of many ways, and goes on with it.

An object is its maker's own until it escapes. Each way in which it can has to be seen, and what both do to it from then
on. A program is a kind of object, a way to put it where another thread takes it, and a few accesses by either.
"""

from __future__ import annotations

import random
from textwrap import indent

HEAD = """
import collections, concurrent.futures, contextvars, copy, dataclasses, functools, heapq, itertools, operator
import queue, threading, types, weakref

class Box:
    def __init__(self, v=0):
        self.v = v
        self.w = 0
    def add(self, n):
        self.v += n
        return self.v
    @property
    def doubled(self):
        return self.v * 2
    def __iter__(self):
        yield self.v
        yield self.w

class Slot:
    __slots__ = ("v", "w", "__weakref__")
    def __init__(self, v=0):
        self.v = v
        self.w = 0
    def add(self, n):
        self.v += n
        return self.v

@dataclasses.dataclass
class Data:
    v: int = 0
    w: int = 0
    def add(self, n):
        self.v += n
        return self.v

class Meta(type):
    last = None

class Holder(metaclass=Meta):
    kept = None

class Err(Exception):
    pass

class Descriptor:
    def __get__(self, obj, kind=None):
        return None if obj is None else obj.__dict__.get("_d")
    def __set__(self, obj, value):
        obj.__dict__["_d"] = value

def relay():
    got = None
    while True:
        new = yield got
        if new is not None:
            got = new

class Hub:
    d = Descriptor()
    def __init__(self):
        self.x = self.arg = self.wr = None
        self.items, self.table, self.ring = [], {}, collections.deque()
        self.od, self.dd, self.cm = collections.OrderedDict(), collections.defaultdict(list), collections.ChainMap({})
        self.heap, self.ns, self.grid = [], types.SimpleNamespace(o=None), [[None, None], [None]]
        self.fifo, self.simple, self.pq = queue.Queue(), queue.SimpleQueue(), queue.PriorityQueue()
        self.future, self.exc = concurrent.futures.Future(), Err()
        self.gen = relay()
        next(self.gen)
        self.ud, self.ul = collections.UserDict(), collections.UserList()
        self.fn = lambda: None
    def __call__(self, o):
        self.x = o
    def __setitem__(self, key, o):
        self.table[key] = o
    def __getitem__(self, key):
        return self.table.get(key)
    def __lshift__(self, o):
        self.x = o
        return self

def keep(o, into=[None]):
    if o is not None:
        into[0] = o
    return into[0]

def stat(o=None):
    if o is not None:
        stat.last = o
    return getattr(stat, "last", None)

GLOBAL = None
HOLD = [None]

def set_global(o):
    global GLOBAL
    GLOBAL = o

def get_global():
    return GLOBAL

def first(items):
    for item in items:
        return item

def scenario():
    hub = Hub()
    lock, condition, event, own = threading.Lock(), threading.Condition(), threading.Event(), threading.local()
    variable = contextvars.ContextVar("variable")
    cell = None
    log = [[] for _ in range(3)]
    class Manager:
        def __init__(self, o):
            self.o = o
        def __enter__(self):
            return self.o
        def __exit__(self, *_):
            pass
    def set_cell(o):
        nonlocal cell
        cell = o
    def get_cell():
        return cell
    def peek():
        with condition:
            return hub.x
    def put_in_a_thread(o):
        thread = threading.Thread(target=setattr, args=(hub, "x", o))
        thread.start()
        thread.join()
"""

TAIL = """
    threads = [threading.Thread(target=body) for body in [BODIES]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return log
"""

_FIELDS = (
    *("o.v = {n}", "see(o.v)", "o.v += 1", "see(getattr(o, 'v'))", "setattr(o, 'v', {n})", "o.w = o.v + 1"),
    *("see((o.v, o.w))", "see(operator.attrgetter('v')(o))"),
)
_METHOD = ("see(o.add(1))", "f = o.add\nsee(f(2))")
_BOX = (
    *(*_FIELDS, *_METHOD, "see(o.doubled)", "see(list(o))", "a, b = o\nsee(a)", "o.__dict__['v'] = {n}"),
    *("see(vars(o)['v'])", "see(o.__dict__.get('w'))", "o.__dict__.update(v={n})", "see(copy.copy(o).v)"),
)
_DICT = (
    *("o['v'] = {n}", "see(o.get('v'))", "o['w'] = {n}", "see(list(o))", "o.update(v={n})", "see(dict(o))"),
    *("see(o.pop('w', None))", "see(o.setdefault('w', {n}))", "see('w' in o)", "see({**o})", "see(len(o))"),
    *("see(list(o.values()))", "see('%(v)s' % o)", "see(o | {'z': 1})"),
)

OBJECTS: dict[str, tuple[str, ...]] = {
    "Box()": _BOX,
    "(lambda b=Box(): b)()": _BOX,
    "Slot()": (*_FIELDS, *_METHOD),
    "Data()": (*_FIELDS, *_METHOD, "see(repr(o))", "see(o == Data({n}))"),
    "types.SimpleNamespace(v=0, w=0)": (*_FIELDS, "see(repr(o))", "see(o == types.SimpleNamespace(v={n}, w=0))"),
    "[0, 0]": (
        *("o[0] = {n}", "see(o[0])", "o.append({n})", "see(len(o))", "see(list(o))", "o[0] += 1", "see(sum(o))"),
        *("see(o == [{n}, 0])", "o.sort()", "see(o.pop() if o else None)", "o *= 2", "see(max(o, default=0))"),
        *("see(','.join(map(str, o)))", "heapq.heappush(o, {n})", "see(tuple(reversed(o)))", "o[:] = [{n}]"),
    ),
    "{'v': 0}": _DICT,
    "collections.OrderedDict(v=0)": (*_DICT, "o.move_to_end('v')", "see(next(iter(o)))"),
    "collections.deque([0, 0])": (
        *("o.append({n})", "see(list(o))", "see(o[0])", "o[0] = {n}", "o.rotate(1)", "see(len(o))"),
        *("see(o.popleft() if o else None)", "see(o.count(0))", "o.extend([{n}])"),
    ),
    "bytearray(b'ab')": (
        *("o[0] = 9{n}", "see(bytes(o))", "o += b'x'", "see(len(o))", "see(o.hex())", "see(memoryview(o)[0])"),
        *("see(o.find(b'b'))", "with memoryview(o) as m:\n    m[0] = 6{n}", "see(int.from_bytes(o, 'big'))"),
    ),
    "[[0], 0]": (
        *("o[0][0] = {n}", "see(o[0][0])", "o[0] = [{n}]", "see(o)", "see(copy.deepcopy(o))", "see(str(o))"),
        *("o[0].append({n})", "see(o == [[0], 0])", "see(len(o[0]))"),
    ),
    "(Box(), [0])": (
        *("o[0].v = {n}", "see(o[0].v)", "o[1][0] += 1", "see(o[1])", "see(o[1] == [{n}])", "see(repr(o[1]))"),
        "b, l = o\nsee((b.v, list(l)))",
    ),
    "set()": (
        *("o.add({n})", "see(sorted(o))", "see({n} in o)", "o.discard({n})", "see(len(o))", "see(o | {9})"),
        *("o |= {7}", "see(frozenset(o) == {{n}})"),
    ),
    "collections.Counter()": (
        *("o['v'] += 1", "see(o['v'])", "see(o.most_common())", "o.update('v')", "see(sum(o.values()))"),
        *("see(dict(o))", "see(+o)"),
    ),
}
"""How an object is made, and what is done to it: `{n}` is a digit."""

WAYS = (
    ("hub.x = o", "hub.x"),
    ("setattr(hub, 'x', o)", "getattr(hub, 'x')"),
    ("hub.__dict__['x'] = o", "hub.__dict__['x']"),
    ("vars(hub).update(x=o)", "vars(hub).get('x')"),
    ("object.__setattr__(hub, 'x', o)", "object.__getattribute__(hub, 'x')"),
    ("hub.d = o", "hub.d"),
    ("hub(o)", "hub.x"),
    ("hub['k'] = o", "hub['k']"),
    ("hub << o", "hub.x"),
    ("hub.x, y = o, 1", "hub.x"),
    ("for hub.x in [o]:\n    pass", "hub.x"),
    ("with Manager(o) as hub.x:\n    pass", "hub.x"),
    ("match [o]:\n    case [y]:\n        hub.x = y", "hub.x"),
    ("functools.reduce(lambda a, b: setattr(a, 'x', b) or a, [o], hub)", "hub.x"),
    ("exec('hub.x = o', {'hub': hub, 'o': o})", "eval('hub.x', {'hub': hub})"),
    ("own.o = o\nhub.x = own.o", "hub.x"),
    ("variable.set(o)\nhub.x = variable.get()", "hub.x"),
    ("put_in_a_thread(o)", "hub.x"),
    ("with lock:\n    hub.x = o", "hub.x"),
    ("with condition:\n    hub.x = o\n    condition.notify()", "peek()"),
    ("event.o = o\nevent.set()", "event.o if event.is_set() else None"),
    ("keep(o)", "keep(None)"),
    ("stat(o)", "stat()"),
    ("set_global(o)", "get_global()"),
    ("globals()['GLOBAL'] = o", "globals()['GLOBAL']"),
    ("HOLD[0] = o", "HOLD[0]"),
    ("set_cell(o)", "get_cell()"),
    ("Holder.kept = o", "Holder.kept"),
    ("Meta.last = o", "Holder.last"),
    ("type.__setattr__(Holder, 'kept', o)", "Holder.__dict__['kept']"),
    ("hub.gen.send(o)", "hub.gen.send(None)"),
    ("hub.items.append(o)", "hub.items[-1] if hub.items else None"),
    ("hub.items += [o]", "hub.items[0] if hub.items else None"),
    ("hub.items[:] = [o]", "hub.items[0] if hub.items else None"),
    ("hub.items.insert(0, o)", "first(hub.items)"),
    ("hub.items.extend(x for x in (o,))", "hub.items and hub.items[0] or None"),
    ("list(map(hub.items.append, [o]))", "hub.items[0] if len(hub.items) else None"),
    ("hub.grid[0][1] = o", "hub.grid[0][1]"),
    ("hub.grid[1].append(o)", "hub.grid[1][-1]"),
    ("hub.ul.append(o)", "hub.ul[0] if len(hub.ul) else None"),
    ("hub.ring.append(o)", "hub.ring[0] if hub.ring else None"),
    ("hub.ring.extend([o])", "hub.ring.pop() if hub.ring else None"),
    ("heapq.heappush(hub.heap, (1, 1, o))", "hub.heap[0][2] if hub.heap else None"),
    ("hub.table['k'] = o", "hub.table.get('k')"),
    ("hub.table.update({'k': o})", "hub.table['k'] if 'k' in hub.table else None"),
    ("hub.table |= {'k': o}", "dict(hub.table).get('k')"),
    ("hub.table.setdefault('k', o)", "next(iter(hub.table.values()), None)"),
    ("operator.setitem(hub.table, 'k', o)", "operator.itemgetter('k')(hub.table) if hub.table else None"),
    ("hub.od['k'] = o", "hub.od.get('k')"),
    ("hub.dd['k'].append(o)", "hub.dd['k'][0] if hub.dd['k'] else None"),
    ("hub.cm['k'] = o", "hub.cm.get('k')"),
    ("hub.ud['k'] = o", "hub.ud.get('k')"),
    ("hub.ns.o = o", "hub.ns.o"),
    ("hub.fifo.put(o)", "hub.fifo.get_nowait() if not hub.fifo.empty() else None"),
    ("hub.simple.put(o)", "hub.simple.get()"),
    ("hub.pq.put((1, id(hub), o))", "hub.pq.queue[0][2] if hub.pq.queue else None"),
    ("hub.future.set_result(o)", "hub.future.result() if hub.future.done() else None"),
    ("hub.exc.args = (o,)", "hub.exc.args[0] if hub.exc.args else None"),
    ("hub.exc.o = o", "getattr(hub.exc, 'o', None)"),
    ("try:\n    raise Err(o)\nexcept Err as e:\n    hub.arg = e", "hub.arg.args[0] if hub.arg else None"),
    (
        "try:\n    raise Err from Err(o)\nexcept Err as e:\n    hub.arg = e",
        "hub.arg.__cause__.args[0] if hub.arg else None",
    ),
    ("hub.fn = lambda: o", "hub.fn()"),
    ("hub.arg = functools.partial(keep, o)", "hub.arg.args[0] if hub.arg else None"),
    ("hub.arg = [o].copy", "hub.arg()[0] if hub.arg else None"),
    ("hub.arg = [lambda: o]", "hub.arg[0]() if hub.arg else None"),
    ("def giver(a=o):\n    return a\nhub.arg = giver", "hub.arg() if hub.arg else None"),
    ("class L:\n    def get(self):\n        return o\nhub.arg = L()", "hub.arg.get() if hub.arg else None"),
    ("class L:\n    held = o\nhub.arg = L", "hub.arg.held if hub.arg else None"),
    ("hub.arg = type('T', (), {'o': o})", "hub.arg.o if hub.arg else None"),
    ("hub.arg = Box.add.__get__(o)", "hub.arg.__self__ if hub.arg else None"),
    ("hub.arg = property(lambda s: o)", "hub.arg.fget(0) if hub.arg else None"),
    ("hub.arg = staticmethod(lambda: o)", "hub.arg() if hub.arg else None"),
    ("hub.arg = threading.Thread(target=print, args=(o,))", "hub.arg._args[0] if hub.arg else None"),
    ("hub.arg = Hub(); hub.arg.x = o", "hub.arg.x if hub.arg else None"),
    ("hub.arg = (1, (o,))", "hub.arg[1][0] if hub.arg else None"),
    ("hub.arg = collections.namedtuple('P', 'o')(o)", "hub.arg.o if hub.arg else None"),
    ("hub.arg = slice(o, None)", "hub.arg.start if hub.arg else None"),
    ("hub.arg = {'a': [o]}", "hub.arg['a'][0] if hub.arg else None"),
    ("hub.arg = dict.fromkeys('k', o)", "hub.arg['k'] if hub.arg else None"),
    ("hub.arg = {'k': o}.items()", "first(hub.arg)[1] if hub.arg else None"),
    ("hub.arg = types.MappingProxyType({'k': o})", "hub.arg['k'] if hub.arg else None"),
    ("hub.arg = collections.ChainMap({'k': o})", "hub.arg['k'] if hub.arg else None"),
    (
        "hub.arg = contextvars.copy_context()\nhub.arg.run(variable.set, o)",
        "hub.arg.get(variable) if hub.arg else None",
    ),
    ("hub.arg = iter([o])", "next(hub.arg, None) if hub.arg else None"),
    ("hub.arg = (x for x in [o])", "next(hub.arg, None) if hub.arg else None"),
    ("hub.arg = map(lambda x: x, [o])", "next(hub.arg, None) if hub.arg else None"),
    ("hub.arg = zip([o])", "next(hub.arg, (None,))[0] if hub.arg else None"),
    ("hub.arg = enumerate([o])", "next(hub.arg, (0, None))[1] if hub.arg else None"),
    ("hub.arg = itertools.repeat(o)", "next(hub.arg) if hub.arg else None"),
    ("hub.arg = reversed([o])", "next(hub.arg, None) if hub.arg else None"),
)
"""How the maker puts the object `o` where another can take it, and the expression that takes it, or is None."""


def program(seed: int) -> str:
    """The source of a random program."""
    rng = random.Random(seed)
    make, accesses = rng.choice([*OBJECTS.items()])
    put, take = rng.choice(WAYS)

    def some(least: int, most: int) -> list[str]:
        return [rng.choice(accesses).replace("{n}", str(rng.randint(3, 5))) for _ in range(rng.randint(least, most))]

    made_before = rng.random() < 0.25
    maker = ["o = made" if made_before else f"o = {make}", *some(0, 1), put, *some(1, 2)]
    again = [] if rng.random() < 0.5 else [f"if o is None:\n    o = {take}"]
    used = indent("\n".join(some(1, 2)), "    ")
    taker = [f"o = {take}", *again, f"if o is not None:\n{used}\nelse:\n    see('none')"]
    bodies = [maker, taker, *([taker] if rng.random() < 0.15 else [])]
    source = [HEAD]
    if made_before:
        source.append(f"    made = {make}")
    for number, body in enumerate(bodies):
        source.append(f"    def body{number}():\n        def see(x):\n            log[{number}].append(repr(x))")
        source.append(indent("\n".join(body), "        "))
    return "\n".join(source) + TAIL.replace("BODIES", ", ".join(f"body{number}" for number in range(len(bodies))))
