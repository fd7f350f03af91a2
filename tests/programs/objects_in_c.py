"""As `looks_and_changes`, for what objects hold in C: attributes, methods, views and functions reach the same."""

from __future__ import annotations

from tests.programs.looks_and_changes import Group

_ELEMENT = "E=__import__('xml.etree.ElementTree').etree.ElementTree; e=E.fromstring('<a x=\"1\"><b>t</b>u</a>')"

GROUPS = (
    Group(
        "c=decimal.Context(prec=5); D=decimal.Decimal",
        (
            "c.divide(D(1),D(3))",
            "c.prec",
            "c.flags[decimal.Inexact]",
            "repr(c)",
            "c.copy().prec",
            "D('1.23456').quantize(D('1.000'),context=c)",
            "D(2).sqrt(c)",
            "decimal.localcontext(c).__enter__().prec",
        ),
        ("c.prec=3; c.flags[decimal.Inexact]=True", "c.__init__(prec=3,flags=[decimal.Inexact])"),
    ),
    Group(
        "c=decimal.Context(); D=decimal.Decimal",
        ("c.flags[decimal.Inexact]", "repr(c)", "c.copy().flags", "dict(c.flags)"),
        ("c.divide(D(1),D(3))", "D(2).sqrt(c)", "D('1.5').to_integral_exact(context=c)"),
    ),
    Group("s=io.StringIO('a')", ("s.closed", "s.__getstate__()", "s.newlines"), ("s.close()", "s.__exit__()")),
    Group("r=csv.reader(['a','b'])", ("r.line_num",), ("next(r)", "list(r)")),
    Group("t=struct.Struct('<hh')", ("t.format", "t.size", "sys.getsizeof(t)"), ("t.__init__('i')",)),
    Group(
        "s=io.StringIO(); s.write('a')", ("dict(vars(s))", "pickle.dumps(s)", "s.getvalue()"), ("s.zz=1; s.write('b')",)
    ),
    Group(
        "q=__import__('sqlite3').connect(':memory:')",
        ("q.execute('select 1').fetchall()", "q.row_factory"),
        ("q.row_factory=lambda c,r: 5",),
    ),
    Group(
        "b=io.BytesIO(b'abcd'); m=b.getbuffer()",
        (
            "b.getvalue()",
            "b.getvalue()[0]",
            "m.tobytes()",
            "bytes(m)",
            "m[1:].tobytes()+m[:1]",
            "b''.join([m])",
            "int.from_bytes(m,'big')",
            "struct.unpack_from('B',m)",
            "m==b'abcd'",
            "list(m)",
            "b'abcd' in [m]",
            "hashlib.md5(m).hexdigest()",
            "97 in m",
        ),
        (
            "m[0]=120",
            "struct.pack_into('B',m,0,120)",
            "memoryview(m)[0]=120",
            "m.cast('B')[0:1]=b'z'",
            "io.BytesIO(b'zz').readinto(m)",
            "b.getbuffer()[0]=120",
        ),
    ),
    Group("b=bytearray(b'ab'); m=memoryview(b)", ("m[0]", "m.nbytes", "bytes(m)", "len(m)"), ("m.release()",)),
    Group(
        "o=__import__('mmap').mmap(-1,4)",
        ("o[:]", "list(o)", "[*o]", "[x for x in o]", "bytes(o)", "sorted(o)", "memoryview(o).tobytes()"),
        ("o[0]=5", "o.write(b'z')", "memoryview(o)[0]=5"),
    ),
    Group(
        _ELEMENT,
        (
            "list(e)",
            "[x.tag for x in e]",
            "e.find('b')",
            "[*e]",
            "''.join(e.itertext())",
            "len(list(e.iter()))",
        ),
        ("e.clear()", "e.remove(e[0])", "del e[0]"),
    ),
    Group(
        _ELEMENT, ("''.join(e.itertext())", "e[0].text", "e.findtext('b')"), ("e[0].text='q'", "setattr(e[0],'text',5)")
    ),
    Group("a=(__import__('ctypes').c_ubyte*2)(1,2)", ("a[0]", "list(a)", "bytes(a)", "[*a]"), ("a[0]=9",)),
    Group("d=collections.defaultdict(list)", ("repr(d)", "d.copy()['q']", "d|{}"), ("d.default_factory=int",)),
    Group("p=functools.partial(sorted,[2,1])", ("p()", "repr(p)", "pickle.dumps(p)"), ("p.keywords['reverse']=True",)),
    Group("g=(x for x in 'ab')", ("g.__qualname__", "repr(g)"), ("g.__qualname__='z'",)),
    Group("D=dataclasses.make_dataclass('D',[('x',int)]); o=D(1)", ("repr(o)", "o==D(1)", "o!=D(1)"), ("o.x=9",)),
    Group("w=textwrap.TextWrapper(width=5)", ("w.wrap('aa bb cc')",), ("w.width=20",)),
    Group("b=bytearray(b'12'); m=memoryview(b)", ("int(b)", "float(b)", "b'12' in [m]"), ("b[0]=51",)),
    Group("f=functools.lru_cache(fn); f.n=1", ("f.n", "getattr(f,'n')"), ("f.n+=1",)),
    Group("t=ast.parse('x=1')", ("compile(t,'f','exec').co_names", "ast.dump(t)"), ("t.body=[]", "t.body.clear()")),
    Group("l=[1]; t=(l,2)", ("t.count([1])", "t.index([1])"), ("l.append(2)",)),
    Group("l=['a',1]; p=[l]", ("dict(p)", "(lambda d: d.update(p) or d)({})"), ("l[1]=5",)),
    Group(
        "r=csv.DictReader(['a','b','c'])", ("next(r)", "list(r)", "[*r]", "r.__getstate__()"), ("r.fieldnames=['z']",)
    ),
    Group(
        "o=P()",
        ("pickle.dumps(o)", "copy.deepcopy(o).__dict__", "str(o.__reduce_ex__(2)[2])", "dir(o)", "dict(vars(o))"),
        ("o.zz=1", "del o.x", "o.__dict__={'q':1}"),
    ),
    Group("s=S(); del s.x", ("copy.copy(s)and hasattr(copy.copy(s),'x')", "pickle.dumps(s,2)"), ("s.x=1",)),
    Group(
        "o=os.environ; o['A1']='1'",
        (
            "o['A1']",
            "dict(o)['A1']",
            "o.copy()['A1']",
            "len(o)",
            "'A0' in o",
            "o.get('A1')",
            "(o|{})['A1']",
            "os.getenv('A1')",
            "os.environb[b'A1']",
            "sorted(o.items())",
            "os.path.expandvars('$A1')",
            "repr(o)",
            "{**o}['A1']",
        ),
        ("o['A1']='5'; o['A0']='5'", "o.update(A1='4',A0='7')", "os.environ|={'A1':'8','A0':'1'}"),
    ),
    Group("o=os.environ; o['A1']='1'", ("len(o)", "'A1' in o"), ("o.pop('A1')", "o.clear()", "del o['A1']")),
)

_RAISED = "v=ValueError('a')\n    try: raise v\n    except ValueError: pass"

ON_EXCEPTIONS = (
    Group(
        "v=ValueError('a',1)",
        (
            "v.__notes__ if hasattr(v,'__notes__') else 0",
            "traceback.format_exception_only(v)",
            "traceback.format_exception(v)",
            "''.join(traceback.TracebackException.from_exception(v).format())",
            "logging.Formatter().formatException((type(v),v,None))",
            "(lambda s: traceback.print_exception(v,file=s) or s.getvalue())(io.StringIO())",
            "pickle.dumps(v)",
            "dict(vars(v))",
            "str(copy.copy(v).__dict__)",
        ),
        ("v.add_note('n')", "v.__notes__=['n']", "v.__setstate__({'__notes__':['n']})"),
    ),
    Group(
        "v=ValueError('a',1)",
        ("str(v)", "repr(v)", "v.args", "traceback.format_exception_only(v)", "f'{v}'"),
        ("v.__init__('z')", "v.args=('z',)"),
    ),
    Group(
        "v=ValueError('a'); v.add_note('x')",
        ("traceback.format_exception_only(v)", "v.__notes__[:]"),
        ("v.add_note('n')", "v.__notes__.append('n')", "v.__notes__.clear()"),
    ),
    Group(
        "v=ValueError('a')",
        ("traceback.format_exception(v)", "v.__cause__ is None"),
        ("v.__cause__=KeyError('q')",),
    ),
    Group(
        _RAISED,
        ("len(traceback.format_exception(v))", "v.__traceback__ is None"),
        ("v.with_traceback(None)", "v.__traceback__=None"),
    ),
    Group(
        "v=OSError(2,'no','f')", ("str(v)", "v.filename", "pickle.dumps(v)"), ("v.filename='z'", "v.__init__(3,'y')")
    ),
)

OUT_OF_REACH = (
    Group(
        "s=io.StringIO(); r=unittest.TextTestRunner(stream=s)",
        ("s.getvalue()[:1]",),
        ("r.run(unittest.FunctionTestCase(len))",),
    ),
    Group("f=logging.Filter('a')", ("f.filter(logging.makeLogRecord({'name':'b'}))",), ("f.name='b'",)),
    Group(
        "c=__import__('ctypes'); i=c.c_int(3); p=c.pointer(i)",
        ("i.value", "p.contents.value"),
        ("p.contents.value=5", "p[0]=5"),
    ),
    Group(
        "c=decimal.getcontext()",
        ("c.prec", "decimal.Decimal(1)/3"),
        ("c.prec=5", "setattr(c,'prec',5)"),
    ),
)
"""Never a pass, though the change may not be found."""
