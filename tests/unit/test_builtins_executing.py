"""`exec`, `eval`, `compile`: what a program makes of strings is seen like what is in its files."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from dpor.core.system import Trace
from dpor.python.program.system import PythonSystem
from dpor.python.sharing.sharing_state import sharing
from tests.source_outcomes import outcomes

BOX = """
import ast, marshal, types
class Box:
    def __init__(self):
        self.x = 0
"""


def of(directory: Path, body: str, instrument: tuple[str, ...] = ()) -> Any:
    """The outcomes of a function body, with a `p = Box()` and an empty list `seen` there."""
    scenario = "def scenario():\n    p, seen = Box(), []\n" + indent(dedent(body), "    ")
    return outcomes(directory, BOX + scenario, instrument=instrument)


ONE_OF_TWO = [
    ("""run(lambda: exec("p.x = 5", {"p": p}), lambda: seen.append(p.x))""", "a field is stored"),
    ("""run(lambda: setattr(p, "x", 5), lambda: seen.append(eval("p.x", {"p": p})))""", "a field is loaded"),
    ("""run(lambda: setattr(p, "x", 5), lambda: seen.append(eval(" p.x", {}, {"p": p})))""", "locals apart"),
    ("""g = {"x": 0}; run(lambda: exec("x = 5", g), lambda: seen.append(g["x"]))""", "a key is stored"),
    ("""g = {"x": 0}; run(lambda: g.update(x=5), lambda: seen.append(eval("x", g)))""", "a key is loaded"),
    ("""g = globals(); run(lambda: exec("N = 5", g), lambda: seen.append(N))""", "a global of the module"),
    ("""run(lambda: exec("global N; N = 5"), lambda: seen.append(N))""", "a global declared so"),
]


@pytest.mark.parametrize("body", [body for body, _ in ONE_OF_TWO], ids=[name for _, name in ONE_OF_TWO])
def test_accesses_are_operations(tmp_path: Path, body: str) -> None:
    found = outcomes(tmp_path, f"{BOX}\nN = 0\ndef scenario():\n    p, seen = Box(), []\n    {body}\n    return seen\n")
    assert found == {(0,), (5,)}
    assert not found.incomplete


LOST = [
    ('def add(): exec("p.x += 1", {"p": p})', "exec"),
    ('def add(): exec("for i in range(1): p.x += i + 1", {"p": p})', "a loop"),
    ('g = {"p": p}\ndef add(): exec("p.x += 1", g)', "globals that threads share"),
    ('def add():\n    q = p\n    exec("q.x += 1")', "the caller's locals"),
    ('code = compile("p.x += 1", "<string>", "exec")\ndef add(): exec(code, {"p": p})', "compiled before"),
    ('code = compile(ast.parse("p.x += 1"), "t", "exec")\ndef add(): exec(code, {"p": p})', "a tree"),
    ('g = {"p": p}\nexec("def add(): p.x += 1", g)\nadd = g["add"]', "a function"),
    ('g = {"p": p}\nexec("def add(): p.x += 1", g)\nadd = types.FunctionType(g["add"].__code__, {"p": p})', "its code"),
    ('def add(): exec(b"p.x += 1", {"p": p, "__builtins__": {}})', "built-ins of its own"),
]


@pytest.mark.parametrize("define", [define for define, _ in LOST], ids=[name for _, name in LOST])
def test_an_update_in_executed_code_may_be_lost(tmp_path: Path, define: str) -> None:
    found = of(tmp_path, f"{define}\nrun(add, add)\nreturn p.x")
    assert found == {1, 2}
    assert not found.incomplete


def test_globals_that_executed_functions_rebind(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        r"""
        g = {"n": 0}
        exec("def add():\n global n\n n += 1", g)
        run(g["add"], g["add"])
        return g["n"]
        """,
    )
    assert found == {1, 2}


def test_methods_of_executed_classes(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        r"""
        g = {}
        exec("class K:\n def __init__(self): self.v = 1\n def __eq__(self, other): return self.v == other.v", g)
        a, b = g["K"](), g["K"]()
        run(lambda: setattr(a, "v", 2), lambda: seen.append(a == b))
        return seen
        """,
    )
    assert found == {(True,), (False,)}


def test_code_from_elsewhere_is_not_seen_and_that_is_said(tmp_path: Path) -> None:
    code = marshal_of("p.x = 5")
    found = of(
        tmp_path,
        f"""
        code = marshal.loads({code!r})
        run(lambda: exec(code, {{"p": p}}), lambda: seen.append(p.x))
        return seen
        """,
    )
    assert found.incomplete == {"code of elsewhere.py was compiled elsewhere, and what it touches is not seen"}


def marshal_of(source: str) -> bytes:
    import marshal

    return marshal.dumps(compile(source, "elsewhere.py", "exec"))


SAME = {
    "keys": r"""
        g = {}
        exec("a = 1\nfor i in [1]:\n b = [i]\nb[0] += 1\nwith open('/dev/null') as c: pass\ndel i, c", g)
        return sorted(g), g["b"]
        """,
    "locals": r"""
        g = {}
        exec("a = 1\nlocals()['c'] = 2\nd = eval('a + c')\ne = dir()\nexec('f = 3')", g)
        return sorted(g), g["d"], g["e"]
        """,
    "two namespaces": r"""
        g, l = {"a": 1}, {}
        exec("b = a\ndef f(): return a\nc = f()\nclass K: d = a", g, l)
        return sorted(g), sorted(l), l["K"].d
        """,
    "syntax error": r"""
        try:
            exec("x = 1\nreturn 1")
        except SyntaxError as error:
            return str(error), error.lineno, error.filename
        """,
    "line": r"""
        try:
            exec("x = 1\n\nraise ValueError(x)")
        except ValueError as error:
            tb = error.__traceback__
            while tb.tb_next is not None:
                tb = tb.tb_next
            return tb.tb_lineno, tb.tb_frame.f_code.co_filename, tb.tb_frame.f_code.co_name
        """,
    "restricted": r"""
        try:
            eval("open", {"__builtins__": {}})
        except NameError as error:
            return str(error)
        """,
    "values": r"""
        x = 2
        return eval("x + 1"), eval(b"\t[i * 2 for i in range(3)]"), eval("(lambda y: y + 1)(1)", {}), exec("x = 3"), x
        """,
    "wrong arguments": r"""
        for arguments in ((1,), ("1", 1), ("1", {}, 1), ()):
            for function in (exec, eval):
                try:
                    function(*arguments)
                except TypeError as error:
                    seen.append(str(error))
        return seen
        """,
    "compile": r"""
        tree = compile("1 + 1", "f", "eval", ast.PyCF_ONLY_AST)
        code = compile("def f(a, *b): return a", "name.py", "exec")
        single = eval(compile("1", "f", "single"))
        return type(tree).__name__, code.co_filename, eval(compile(tree, "f", "eval")), single
        """,
    "imports": r"""
        g = {}
        exec("from os.path import *\nimport threading", g)
        return "join" in g, g["threading"] is threading
        """,
}


@pytest.mark.parametrize("name", SAME)
def test_it_looks_as_it_does_without_hooks(tmp_path: Path, name: str) -> None:
    source = "def scenario():\n    p, seen = Box(), []\n" + indent(dedent(SAME[name]), "    ")
    import threading

    plain: dict[str, Any] = {"threading": threading}
    exec(BOX + source, plain)
    (found,) = outcomes(tmp_path, BOX + source)
    assert found == _tuples(plain["scenario"]())


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


def test_the_hooks_that_executed_code_is_given_are_not_published(tmp_path: Path) -> None:
    """They lead to all that we remember of earlier runs: objects would be counted, and named, otherwise in each."""
    file = tmp_path / "program.py"
    file.write_text("""
import threading
def scenario():
    names = {}
    exec("def made(): return 1", names)
    thread = threading.Thread(target=names["made"])
    thread.start()
    thread.join()
""")
    PythonSystem(f"{file}::scenario").run(Trace(), lambda enabled: (enabled & -enabled).bit_length() - 1)
    ours = {type(shared.obj).__module__ for shared in sharing.used} & {"dpor.core.operations", "greenlet"}
    assert ours == set()
    assert len(sharing.used) < 20
