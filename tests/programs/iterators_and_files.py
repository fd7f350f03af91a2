"""As `looks_and_changes`, for objects that stand somewhere: iterators, files in memory and what writes to them."""

from __future__ import annotations

from tests.programs.looks_and_changes import Group

_GENERATOR = "g=(x for x in [[1],[2]])"

GROUPS = (
    Group(
        "l=[1,2,3]; i=iter(l)",
        (
            "i.__length_hint__()",
            "operator.length_hint(i)",
            "i.__reduce__()",
            "copy.copy(i).__reduce__()",
            "copy.copy(itertools.chain(i)).__next__()",
            "pickle.dumps(i)",
            "next(i,0)",
        ),
        ("next(i)", "i.__setstate__(2)", "heapq.nsmallest(1,i)", "statistics.mean(i)"),
    ),
    Group(
        "i=itertools.count()",
        ("repr(i)", "f'{i}'", "i.__reduce__()", "pickle.dumps(i)"),
        ("next(i)", "dict(zip('ab',i))"),
    ),
    Group("i=enumerate([1,2,3])", ("i.__reduce__()",), ("next(i)", "dict(i)")),
    Group(_GENERATOR, ("next(g,0)",), ("heapq.nsmallest(1,g)", "statistics.mean(map(len,g))")),
    Group(_GENERATOR, ("g.gi_running",), ("next(g)", "list(g)")),
    Group(
        "m=memoryview(bytearray(b'abc'))",
        ("bytes(m)", "list(m)", "[*m]", "[x for x in m]", "max(m)"),
        ("m[0]=200", "struct.pack_into('B',m,0,200)"),
    ),
    Group("s=io.StringIO('ab')", ("s.getvalue()",), ("s.__exit__(None,None,None)", "s.__setstate__(('q','',0,None))")),
    Group(
        "s=io.StringIO()",
        ("s.getvalue()",),
        (
            "traceback.print_stack(file=s)",
            "traceback.TracebackException.from_exception(ValueError()).print(file=s)",
            "__import__('shutil').copyfileobj(io.StringIO('a'),s)",
            "__import__('argparse').ArgumentParser(prog='p').print_help(s)",
        ),
    ),
    Group(
        "b=io.BytesIO(); w=io.TextIOWrapper(b,write_through=True); c=codecs.getwriter('utf8')(b)",
        ("b.tell()",),
        ("w.write('x')", "print('x',file=w)", "c.write('x')"),
    ),
    Group(
        "s=io.StringIO(); h=logging.StreamHandler(s); r=logging.LogRecord('n',20,'p',1,'x',(),None)",
        ("s.getvalue()",),
        ("h.emit(r)", "h.handle(r)"),
    ),
    Group(
        "l=[1]; r=logging.LogRecord('n',20,'p',1,'%s',(l,),None)",
        ("r.getMessage()", "logging.Formatter().format(r)"),
        ("l.append(2)", "r.msg='%r!'"),
    ),
    Group("l=[1]; n=types.SimpleNamespace(x=l)", ("n.__repr__()",), ("l.append(2)",)),
    Group("E=enum.Enum('E','A B')", ("E.A.value", "E.A._value_"), ("E.A._value_=7",)),
    Group(
        "d={'a':1}; m=types.MappingProxyType(collections.ChainMap(d))",
        ("m['a']", "dict(m)", "list(m)", "len(m)", "'b' in m", "m.get('a')", "repr(m)", "{**m}", "m|{}"),
        ("d.update(a=2,b=1)",),
    ),
    Group("u=collections.UserList([1,2])", ("list(u)",), ("u.data.append(1)", "u.data=[5]", "bisect.insort(u,0)")),
    Group("u=collections.UserString('ab')", ("u=='ab'", "u<'b'", "list(u)"), ("u.data='xyz'",)),
)
