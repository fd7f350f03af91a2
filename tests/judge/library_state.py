"""Random programs whose threads change the state of a library (`elsewhere/judged_state.py`) and of the process."""

from __future__ import annotations

import random
from textwrap import indent
from typing import Final

LIBRARIES: Final = ("judged_state", "judged_late", "calendar")

HEAD: Final = """
import csv, decimal, gc, io, locale, math, os, random, shutil, sys, tempfile, threading, types, warnings, weakref
import calendar, logging
import judged_state as lib

def scenario():
    log = [[] for _ in range(3)]
"""

TAIL: Final = """
    threads = [threading.Thread(target=body) for body in [BODIES]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

LIBRARY: Final = (
    "see(lib.hit())",
    "see(lib.lookup('k'))",
    "see(lib.register('a'))",
    "see(lib.cached(1))",
    "with lib.level(1) as before:\n    see(before)",
    "see(lib.settings['level'])",
    "o = lib.instance('m')\nsee(o.count)\no = None",
    "see([*lib.numbers()])",
    "lib.drop()",
    "see(lib.late())",
    "import judged_late\nsee(judged_late.loaded)",
    "see(lib.hits)",
    "see(lib.lazy)",
    "o = lib.node\no += 1",
    "see(lib.node == lib.node)",
    "see(bool(lib.node))",
    "see(len(lib.node))",
    "with lib.node:\n    see(len(lib.node))",
    "see(sorted([2, 1], key=lib.node))",
    "see([*map(lib.node, 'a')])",
    "see(lib.node in [1, lib.node])",
    "lib.hits = 5",
    "lib.Node.made += 1",
    "see(lib.Node.made)",
    "lib.events.append(lib.hit())",
    "see([*lib.events])",
    "lib.cache.clear()",
    "lib.about[lib.node] = lib.hit()",
    "see([*lib.about.values()])",
    "see(len(lib.group))",
    "see(len(lib.living))",
    "see([*lib.told])",
    "f = weakref.finalize(lib.kept, lib.hit) if lib.kept is not None else None\nf = None",
    "lib.hit = lambda: 7",
    "setattr(lib, 'register', len)",
    "calendar.setfirstweekday(2)",
    "see(calendar.firstweekday())",
    "see(calendar.weekheader(1))",
)

PROCESS: Final[dict[str, tuple[str, tuple[str, ...], str, str]]] = {
    "gc": (
        "gc.enable()",
        ("gc.disable()", "see(gc.isenabled())", "if gc.isenabled():\n    gc.disable()\nelse:\n    gc.enable()"),
        "gc.isenabled()",
        "gc.disable()",
    ),
    "thresholds": (
        "old = gc.get_threshold()\ngc.set_threshold(700, 10, 10)",
        ("gc.set_threshold(gc.get_threshold()[0] + 1)", "see(gc.get_threshold())"),
        "gc.get_threshold()",
        "gc.set_threshold(*old)",
    ),
    "environment": (
        "os.environ['J'] = '0'",
        (
            "os.environ['J'] = str(int(os.environ.get('J', 5)) + 1)",
            "see(os.environ.get('J'))",
            "os.environ.pop('J', None)",
            "os.environ.setdefault('J', 'x')",
            "see('J' in os.environ)",
            "os.putenv('J', '3')",
        ),
        "os.environ.get('J')",
        "os.environ.pop('J', None)",
    ),
    "umask": (
        "mask = os.umask(0o22)",
        ("see(os.umask(0o77))", "os.umask(os.umask(0) | 0o1)"),
        "os.umask(0o22)",
        "os.umask(mask)",
    ),
    "recursion": (
        "limit = sys.getrecursionlimit()",
        ("sys.setrecursionlimit(sys.getrecursionlimit() + 1)", "see(sys.getrecursionlimit() - limit)"),
        "sys.getrecursionlimit() - limit",
        "sys.setrecursionlimit(limit)",
    ),
    "folder": (
        "folder = os.getcwd()\nos.chdir('/')",
        ("os.chdir('/tmp')", "see(os.getcwd())", "os.chdir('/')", "see(os.path.abspath('a'))"),
        "os.getcwd()",
        "os.chdir(folder)",
    ),
    "warnings": (
        "filters = warnings.filters[:]\nwarnings.resetwarnings()",
        (
            "warnings.simplefilter('ignore')",
            "see(len(warnings.filters))",
            "with warnings.catch_warnings():\n    warnings.simplefilter('error')",
            "warnings.filterwarnings('ignore', 'x')",
            "warnings.resetwarnings()",
        ),
        "len(warnings.filters)",
        "warnings.filters[:] = filters",
    ),
    "locale": (
        "locale.setlocale(locale.LC_CTYPE, 'C')",
        ("see(locale.setlocale(locale.LC_CTYPE))", "locale.setlocale(locale.LC_CTYPE, 'C.UTF-8')"),
        "locale.setlocale(locale.LC_CTYPE)",
        "locale.setlocale(locale.LC_CTYPE, 'C.UTF-8')",
    ),
    "random": (
        "random.seed(1)",
        ("see(random.randrange(100))", "random.seed(2)", "see(random.random())", "random.shuffle([1, 2, 3])"),
        "random.randrange(100)",
        "random.seed(1)",
    ),
    "stdout": (
        "out, other, one = sys.stdout, io.StringIO(), io.StringIO()\nsys.stdout = one",
        (
            "print('x')",
            "sys.stdout = other",
            "print('y', end='')",
            "sys.stdout.write('z')",
            "sys.stdout, kept = other, sys.stdout\nsys.stdout = kept",
        ),
        "(one.getvalue(), other.getvalue())",
        "sys.stdout = out",
    ),
    "modules": (
        "sys.modules.pop('j', None)",
        (
            "sys.modules['j'] = types.ModuleType('j')",
            "see('j' in sys.modules)",
            "sys.modules.pop('j', None)",
            "try:\n    import j\nexcept ImportError:\n    see('none')",
        ),
        "'j' in sys.modules",
        "sys.modules.pop('j', None)",
    ),
    "dialects": (
        "csv.register_dialect('j', delimiter=';')",
        (
            "see('j' in csv.list_dialects())",
            "csv.register_dialect('j', delimiter=',')",
            "see(csv.get_dialect('j').delimiter)",
            "see(csv.field_size_limit(csv.field_size_limit() + 1) > 131072)",
        ),
        "csv.get_dialect('j').delimiter",
        "csv.unregister_dialect('j')\ncsv.field_size_limit(131072)",
    ),
    "path": (
        "path = sys.path[:]",
        (
            "sys.path.append('/j')",
            "see('/j' in sys.path)",
            "'/j' in sys.path and sys.path.remove('/j')",
            "see(len(sys.path) - len(path))",
        ),
        "len(sys.path) - len(path)",
        "sys.path[:] = path",
    ),
    "attributes": (
        "math.j = 0",
        ("math.j += 1", "see(math.j)", "see(hasattr(math, 'j'))", "setattr(math, 'j', math.j + 2)"),
        "math.j",
        "del math.j",
    ),
    "temporary": (
        "tempfile.tempdir = '/usr'",
        ("tempfile.tempdir = '/tmp'", "see(tempfile.gettempdir())", "see(tempfile.tempdir)"),
        "tempfile.tempdir",
        "tempfile.tempdir = None",
    ),
    "logging": (
        "logging.disable(0)",
        (
            "logging.disable(50)",
            "see(logging.root.manager.disable)",
            "see(logging.getLogger('j').isEnabledFor(40))",
            "logging.getLogger('j').setLevel(10)",
            "see(logging.getLogger('j').level)",
        ),
        "logging.root.manager.disable",
        "logging.disable(0)\nlogging.getLogger('j').setLevel(0)",
    ),
    "files": (
        "top = tempfile.mkdtemp(dir='/tmp')\np, q = os.path.join(top, 'p'), os.path.join(top, 'q')",
        (
            "with open(p, 'a') as file:\n    file.write('x')",
            "see(os.path.exists(p))",
            "see(os.path.isfile(q))",
            "try:\n    os.rename(p, q)\nexcept OSError:\n    see('none')",
            "see(sorted(os.listdir(top)))",
            "try:\n    os.remove(p)\nexcept OSError:\n    see('gone')",
            "if not os.path.exists(q):\n    with open(q, 'x') as file:\n        file.write('y')",
            "try:\n    with open(p) as file:\n        see(file.read())\nexcept OSError:\n    see('no')",
        ),
        "sorted(os.listdir(top))",
        "shutil.rmtree(top)",
    ),
}
"""By part of the state: what sets it up, what threads do, what it is in the end, and what puts it back."""


def program(seed: int) -> str:
    """The source of a random program."""
    rng = random.Random(seed)
    parts = [PROCESS[name] for name in rng.sample(sorted(PROCESS), rng.choice((0, 1, 1, 2)))]
    statements = [statement for _, some, _, _ in parts for statement in some]
    bodies = []
    for _ in range(2):
        body = []
        for _ in range(rng.choice((1, 2, 2))):
            of_library = not statements or rng.random() < 0.4
            body.append(rng.choice(LIBRARY if of_library else statements))
        bodies.append(body)
    source = [HEAD, *[indent(setup, "    ") for setup, *_ in parts]]
    for number, body in enumerate(bodies):
        source.append(f"    def body{number}():\n        def see(x):\n            log[{number}].append(repr(x))")
        source.append(indent("\n".join(body), "        "))
    source.append(TAIL.replace("BODIES", ", ".join(f"body{number}" for number in range(len(bodies)))))
    looks = ["lib.hits", "lib.node.count", "[*lib.told]", *[look for _, _, look, _ in parts]]
    source.append(f"    log.append(repr(({', '.join(looks)},)))")
    source += [indent(back, "    ") for *_, back in parts]
    return "\n".join([*source, "    return log", ""])
