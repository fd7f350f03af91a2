# The judge of abstract programs, kept as it came: it shares no code with what it judges.
# fmt: off
# ruff: noqa
# mypy: ignore-errors
#!/usr/bin/env python3
"""bruteforce.py - an independent oracle for interleaving / trace / class counts.

It knows nothing about DPOR.  It takes a tiny abstract program, runs the plain
interleaving semantics and counts, exactly:

  interleavings  maximal executions (sequences of visible steps)
  maz            Mazurkiewicz traces of maximal executions
  rf             reads-from classes (lock acquisitions included as reads of the
                 previous release; so the order of critical sections counts)
  rf_nolock      reads-from classes of the data variables only
  values         value classes: per thread, the sequence of values it read
                 (data reads only: plain reads, rmw, cas, await)
  final          distinct final global states (shared memory + registers)
  states         distinct reachable global states
  deadlocks      distinct states where nobody can move and somebody is unfinished
  errors         labels of assertions that fail in some execution

The classes are counted on *maximal* executions (all threads finished, or deadlock).

----------------------------------------------------------------------------
PROGRAM FORMAT (a Python dict, JSON-compatible)

  {"name": "...",
   "vars":  {"x": 0, "arr": [0,0,0]},        # shared data, arrays are "arr[i]"
   "locks": ["m", "l[4]"],                   # mutexes; "l[4]" declares l[0]..l[3]
   "sems":  {"s": 2},                        # counting semaphores
   "conds": ["c"],                           # condition variables (FIFO wake-up)
   "threads": [ [stmt, stmt, ...], ... ],
   "regs": {"t": [0,1]} }                    # optional per-thread initial registers

  stmt is a string of blank-separated tokens or a list for control flow:
   "r x a"           a := x                       (visible, reads x)
   "w x EXPR"        x := EXPR over registers     (visible, writes x)
   "rmw x a EXPR"    a := x; x := EXPR atomically (visible, reads+writes x)
   "cas x OLD NEW a" a := (x == OLD); if so x := NEW.  Visible; reads x, and writes
                     x only when it succeeds.
   "await x EXPR"    blocks until EXPR (over registers and _ = value of x) holds;
                     visible, reads x; _ stays in register "_"
   "lock m" "unlock m" "P s" "V s"
   "wait c m"        two steps: (1) release m and enqueue on c, (2) once woken,
                     take m again.   "notify c" wakes the oldest, "notifyall c" all.
   "let a EXPR"      local, invisible
   "assert EXPR"     local; records an error label and carries on
   "halt EXPR"       local; ends the thread when EXPR holds
   ["if", EXPR, [then...], [else...]]   ["while", EXPR, [body...]]
  EXPR is a Python expression without blanks over the thread's registers
  (unset registers are 0; "tid" is the thread number).

Two visible steps of different threads are *dependent* iff they touch a common
object and at least one of them writes it.  lock/unlock/P/V/wait/notify write their
objects; a failed cas only reads.
"""
import re, sys, json, time, argparse
from collections import defaultdict

# ----------------------------------------------------------------- compilation
SAFE = {"__builtins__": {}, "min": min, "max": max, "abs": abs, "int": int}


class Prog:
    def __init__(self, spec):
        self.spec = spec
        self.name = spec.get("name", "?")
        self.obj = {}          # object name -> index
        self.kind = []         # 'v' data, 'l' lock, 's' semaphore, 'c' condition
        self.init = []
        for v, x in spec.get("vars", {}).items():
            if isinstance(x, (list, tuple)):
                for i, y in enumerate(x):
                    self._add("%s[%d]" % (v, i), 'v', y)
            else:
                self._add(v, 'v', x)
        for l in spec.get("locks", []):
            m = re.match(r"(\w+)\[(\d+)\]$", l)
            for n in (["%s[%d]" % (m.group(1), i) for i in range(int(m.group(2)))] if m else [l]):
                self._add(n, 'l', -1)
        for s, n in spec.get("sems", {}).items():
            self._add(s, 's', n)
        for c in spec.get("conds", []):
            self._add(c, 'c', ())
        self.nthreads = len(spec["threads"])
        self.regnames = []
        self.code = []
        self.reginit = []
        for t, body in enumerate(spec["threads"]):
            names = {"tid": 0}
            code = []
            self._compile(body, code, names)
            code.append(("end",))
            self.code.append(code)
            order = sorted(names, key=names.get)
            self.regnames.append(order)
            ri = [0] * len(order)
            ri[0] = t
            for r, vals in spec.get("regs", {}).items():
                if r in names:
                    ri[names[r]] = vals[t]
            self.reginit.append(tuple(ri))

    def _add(self, name, kind, val):
        self.obj[name] = len(self.init)
        self.kind.append(kind)
        self.init.append(val)

    def _reg(self, names, r):
        if r not in names:
            names[r] = len(names)
        return names[r]

    def _expr(self, e, names):
        toks = [x for x in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", e))
                if x not in ("and", "or", "not", "if", "else", "min", "max", "abs", "int", "True", "False")]
        idx = [self._reg(names, x) for x in toks]
        try:
            const = eval(e, SAFE, {}) if not toks else None
        except Exception:
            const = None
        if not toks:
            return lambda regs, c=const: c
        src = e
        # placeholder substitution -> positional register access
        body = re.sub(r"[A-Za-z_]\w*", lambda m: "R[%d]" % names[m.group(0)] if m.group(0) in toks else m.group(0), src)
        return eval("lambda R: (" + body + ")", SAFE)

    def _objref(self, ref, names):
        m = re.match(r"(\w+)\[(.*)\]$", ref)
        if m and ref not in self.obj:
            f = self._expr(m.group(2), names)
            base = m.group(1)
            tbl = self.obj
            return lambda regs: tbl["%s[%d]" % (base, f(regs))]
        i = self.obj[ref]
        return lambda regs: i

    def _compile(self, body, code, names):
        for st in body:
            if isinstance(st, (list, tuple)):
                if st[0] == "if":
                    f = self._expr(st[1], names)
                    j = len(code); code.append(None)
                    self._compile(st[2], code, names)
                    if len(st) > 3 and st[3]:
                        k = len(code); code.append(None)
                        code[j] = ("jz", f, len(code))
                        self._compile(st[3], code, names)
                        code[k] = ("jmp", len(code))
                    else:
                        code[j] = ("jz", f, len(code))
                elif st[0] == "while":
                    top = len(code)
                    f = self._expr(st[1], names)
                    j = len(code); code.append(None)
                    self._compile(st[2], code, names)
                    code.append(("jmp", top))
                    code[j] = ("jz", f, len(code))
                elif st[0] == "repeat":
                    for _ in range(st[1]):
                        self._compile(st[2], code, names)
                else:
                    raise ValueError(st)
                continue
            tok = st.split()
            op = tok[0]
            if op == "r":
                code.append(("r", self._objref(tok[1], names), self._reg(names, tok[2])))
            elif op == "w":
                code.append(("w", self._objref(tok[1], names), self._expr(tok[2], names)))
            elif op == "rmw":
                a = self._reg(names, tok[2])
                code.append(("rmw", self._objref(tok[1], names), a, self._expr(tok[3], names)))
            elif op == "cas":
                code.append(("cas", self._objref(tok[1], names), self._expr(tok[2], names),
                             self._expr(tok[3], names), self._reg(names, tok[4])))
            elif op == "await":
                u = self._reg(names, "_")
                code.append(("await", self._objref(tok[1], names), u, self._expr(tok[2], names)))
            elif op in ("lock", "unlock", "P", "V", "notify", "notifyall"):
                code.append((op, self._objref(tok[1], names)))
            elif op == "wait":
                c, m = self._objref(tok[1], names), self._objref(tok[2], names)
                code.append(("wait", c, m))
                code.append(("rewait", c, m))
            elif op == "let":
                code.append(("let", self._reg(names, tok[1]), self._expr(tok[2], names)))
            elif op == "assert":
                code.append(("assert", self._expr(tok[1], names), tok[1]))
            elif op == "halt":
                code.append(("halt", self._expr(tok[1], names)))
            else:
                raise ValueError("unknown op " + st)

    # ------------------------------------------------------------- semantics
    # state = (pcs, regs, mem, errs)   all tuples; errs = frozenset of labels
    def run_local(self, t, pc, regs, errs):
        code = self.code[t]
        n = 0
        while True:
            ins = code[pc]
            op = ins[0]
            if op == "let":
                regs = regs[:ins[1]] + (ins[2](regs),) + regs[ins[1] + 1:]
                pc += 1
            elif op == "jz":
                pc = pc + 1 if ins[1](regs) else ins[2]
            elif op == "jmp":
                pc = ins[1]
            elif op == "assert":
                if not ins[1](regs):
                    errs = errs | {"T%d:%s" % (t, ins[2])}
                pc += 1
            elif op == "halt":
                pc = len(code) - 1 if ins[1](regs) else pc + 1
            else:
                return pc, regs, errs
            n += 1
            if n > 100000:
                raise RuntimeError("local loop without visible step")

    def initial(self):
        pcs, rs, errs = [], [], frozenset()
        for t in range(self.nthreads):
            pc, r, errs = self.run_local(t, 0, self.reginit[t], errs)
            pcs.append(pc); rs.append(r)
        return (tuple(pcs), tuple(rs), tuple(self.init), errs)

    def finished(self, s, t):
        return self.code[t][s[0][t]][0] == "end"

    def enabled(self, s, t):
        ins = self.code[t][s[0][t]]
        op = ins[0]
        if op in ("r", "w", "rmw", "cas", "unlock", "V", "wait", "notify", "notifyall"):
            return True
        if op == "end":
            return False
        regs, mem = s[1][t], s[2]
        if op == "lock":
            return mem[ins[1](regs)] == -1
        if op == "P":
            return mem[ins[1](regs)] > 0
        if op == "await":
            r = regs[:ins[2]] + (mem[ins[1](regs)],) + regs[ins[2] + 1:]
            return bool(ins[3](r))
        if op == "rewait":
            return t not in mem[ins[1](regs)] and mem[ins[2](regs)] == -1
        raise ValueError(op)

    def enabled_set(self, s):
        return [t for t in range(self.nthreads) if self.enabled(s, t)]

    def peek(self, s, t):
        """Accesses of t's next visible step if run in s: list of (object, 'R'|'W'); None if finished.
        Also defined for disabled steps."""
        ins = self.code[t][s[0][t]]
        op = ins[0]
        regs, mem = s[1][t], s[2]
        if op == "end":
            return None
        if op in ("r", "await"):
            return [(ins[1](regs), 'R')]
        if op in ("w", "rmw", "lock", "unlock", "P", "V", "notify", "notifyall"):
            return [(ins[1](regs), 'W')]
        if op == "cas":
            o = ins[1](regs)
            return [(o, 'W' if mem[o] == ins[2](regs) else 'R')]
        if op in ("wait", "rewait"):
            return [(ins[1](regs), 'W'), (ins[2](regs), 'W')]
        raise ValueError(op)

    def step(self, s, t):
        """-> (new state, accesses, values read from data variables)"""
        pcs, rs, mem, errs = s
        pc, regs = pcs[t], rs[t]
        ins = self.code[t][pc]
        op = ins[0]
        acc = self.peek(s, t)
        vals = ()
        if op == "r":
            o = ins[1](regs); v = mem[o]
            vals = (v,)
            regs = regs[:ins[2]] + (v,) + regs[ins[2] + 1:]
        elif op == "w":
            o = ins[1](regs)
            mem = mem[:o] + (ins[2](regs),) + mem[o + 1:]
        elif op == "rmw":
            o = ins[1](regs); v = mem[o]
            vals = (v,)
            regs = regs[:ins[2]] + (v,) + regs[ins[2] + 1:]
            mem = mem[:o] + (ins[3](regs),) + mem[o + 1:]
        elif op == "cas":
            o = ins[1](regs); v = mem[o]
            vals = (v,)
            ok = v == ins[2](regs)
            if ok:
                mem = mem[:o] + (ins[3](regs),) + mem[o + 1:]
            regs = regs[:ins[4]] + (1 if ok else 0,) + regs[ins[4] + 1:]
        elif op == "await":
            o = ins[1](regs); v = mem[o]
            vals = (v,)
            regs = regs[:ins[2]] + (v,) + regs[ins[2] + 1:]
        elif op == "lock":
            o = ins[1](regs); mem = mem[:o] + (t,) + mem[o + 1:]
        elif op == "unlock":
            o = ins[1](regs)
            if mem[o] != t:
                errs = errs | {"T%d:unlock-not-owned" % t}
            mem = mem[:o] + (-1,) + mem[o + 1:]
        elif op == "P":
            o = ins[1](regs); mem = mem[:o] + (mem[o] - 1,) + mem[o + 1:]
        elif op == "V":
            o = ins[1](regs); mem = mem[:o] + (mem[o] + 1,) + mem[o + 1:]
        elif op == "wait":
            c, m = ins[1](regs), ins[2](regs)
            mem = list(mem)
            mem[c] = mem[c] + (t,); mem[m] = -1
            mem = tuple(mem)
        elif op == "rewait":
            m = ins[2](regs); mem = mem[:m] + (t,) + mem[m + 1:]
        elif op == "notify":
            c = ins[1](regs); mem = mem[:c] + (mem[c][1:],) + mem[c + 1:]
        elif op == "notifyall":
            c = ins[1](regs); mem = mem[:c] + ((),) + mem[c + 1:]
        else:
            raise ValueError(op)
        npc, nregs, errs = self.run_local(t, pc + 1, regs, errs)
        return ((pcs[:t] + (npc,) + pcs[t + 1:], rs[:t] + (nregs,) + rs[t + 1:], mem, errs), acc, vals)


# ------------------------------------------------------------------- counting
class Limit(Exception):
    pass


def count_states(P, limit=5_000_000):
    """reachable states, deadlocks, finals, errors, and (if acyclic) the number of interleavings"""
    init = P.initial()
    seen = {init: None}
    stack = [init]
    dead, finals, errors = set(), set(), set()
    trans = 0
    while stack:
        s = stack.pop()
        if s[3]:
            errors |= s[3]
        succ = []
        for t in range(P.nthreads):
            if P.enabled(s, t):
                n = P.step(s, t)[0]
                succ.append(n)
                if n not in seen:
                    seen[n] = None
                    stack.append(n)
                    if len(seen) > limit:
                        raise Limit("states > %d" % limit)
        trans += len(succ)
        seen[s] = succ
        if not succ:
            finals.add(s)
            if not all(P.finished(s, t) for t in range(P.nthreads)):
                dead.add(s)
    # path counting by DFS postorder; None if cyclic
    cnt = {}
    color = {}
    cyc = False
    st = [(init, 0)]
    color[init] = 1
    while st:
        s, i = st.pop()
        succ = seen[s]
        if i < len(succ):
            st.append((s, i + 1))
            n = succ[i]
            c = color.get(n, 0)
            if c == 0:
                color[n] = 1
                st.append((n, 0))
            elif c == 1:
                cyc = True
        else:
            color[s] = 2
            if not cyc:
                cnt[s] = sum(cnt[n] for n in succ) if succ else 1
    return dict(states=len(seen), transitions=trans, deadlocks=len(dead), final=len(finals),
                errors=sorted(errors), interleavings=None if cyc else cnt[init],
                cyclic=cyc, _seen=seen, _dead=dead, _finals=finals)


class Intern:
    def __init__(self):
        self.d = {}

    def __call__(self, k):
        v = self.d.get(k)
        if v is None:
            v = self.d[k] = len(self.d) + 1
        return v


def count_maz(P, limit=3_000_000, want=None, max_events=None):
    """Mazurkiewicz traces of maximal executions.

    An event is identified by its thread, its predecessor in the thread and, for every
    object it touches, the set of earlier accesses it conflicts with that are not
    already behind a later write (last write; for a writer also the reads since).
    Interning that tuple names exactly the events of the unfolding, and the tuple of last
    events per thread names the trace prefix (= configuration)."""
    ev = Intern()
    init = P.initial()
    nobj = len(P.init)
    key0 = (0,) * P.nthreads
    # node: key -> (state, per-object (last write, frozenset reads since))
    layer = {key0: (init, ((0, frozenset()),) * nobj)}
    total = 0
    maxi = 0
    nodes = 0
    deadtr = 0
    depth = 0
    trunc = 0
    while layer:
        nxt = {}
        for key, (s, hist) in layer.items():
            nodes += 1
            any_ = False
            if max_events is not None and depth >= max_events:
                if any(P.enabled(s, t) for t in range(P.nthreads)):
                    trunc += 1
                    continue
            for t in range(P.nthreads):
                if not P.enabled(s, t):
                    continue
                any_ = True
                n, acc, vals = P.step(s, t)
                preds = []
                for o, m in acc:
                    lw, rd = hist[o]
                    preds.append((o, m, lw, rd if m == 'W' else None))
                e = ev((t, key[t], tuple(preds)))
                k2 = key[:t] + (e,) + key[t + 1:]
                if k2 not in nxt:
                    h = list(hist)
                    for o, m in acc:
                        lw, rd = h[o]
                        h[o] = (e, frozenset()) if m == 'W' else (lw, rd | {e})
                    nxt[k2] = (n, tuple(h))
            if not any_:
                maxi += 1
                if not all(P.finished(s, t) for t in range(P.nthreads)):
                    deadtr += 1
                if want is not None:
                    want.append((key, s))
        if len(nxt) > limit or nodes > 4 * limit:
            raise Limit("trace prefixes > %d" % limit)
        layer = nxt
        depth += 1
    return dict(maz=maxi, maz_deadlock=deadtr, maz_prefixes=nodes, unfolding_events=len(ev.d), truncated=trunc)


def count_rf(P, locks=True, limit=3_000_000, max_events=None):
    """reads-from classes.  A step's reads-from part: for every object it reads (R, rmw, cas,
    await; with locks=True also lock/P/V/wait/notify, which read what they modify): which
    step wrote it last.  A plain write and an unlock read nothing."""
    it = Intern()
    init = P.initial()
    layer = {((0,) * P.nthreads, (0,) * len(P.init), init[0]): init}
    out = set()
    depth = 0
    nodes = 0
    while layer:
        nxt = {}
        for (rid, lw, _), s in layer.items():
            nodes += 1
            any_ = False
            if max_events is not None and depth >= max_events:
                continue
            for t in range(P.nthreads):
                if not P.enabled(s, t):
                    continue
                any_ = True
                op = P.code[t][s[0][t]][0]
                n, acc, vals = P.step(s, t)
                src = []
                writes = []
                for o, m in acc:
                    k = P.kind[o]
                    if k == 'v':
                        if op != "w":
                            src.append((o, lw[o]))
                        if m == 'W':
                            writes.append(o)
                    elif locks:
                        if op not in ("unlock",):
                            src.append((o, lw[o]))
                        writes.append(o)
                r = it((rid[t], t, op, tuple(o for o, _ in acc), tuple(src)))
                l2 = list(lw)
                # a write is named by thread and its position in the thread, plus the
                # thread's own reads-from history (so that names do not clash across paths)
                for o in writes:
                    l2[o] = r
                k2 = (rid[:t] + (r,) + rid[t + 1:], tuple(l2), n[2] if not locks else 0)
                if k2 not in nxt:
                    nxt[k2] = n
            if not any_:
                out.add((rid, tuple(P.finished(s, t) for t in range(P.nthreads))))
        if len(nxt) > limit:
            raise Limit("rf prefixes > %d" % limit)
        layer = nxt
        depth += 1
    return len(out), nodes


def count_values(P, limit=3_000_000):
    it = Intern()
    init = P.initial()
    layer = {((0,) * P.nthreads, init): None}
    out = set()
    while layer:
        nxt = {}
        for (rid, s) in layer:
            any_ = False
            for t in range(P.nthreads):
                if not P.enabled(s, t):
                    continue
                any_ = True
                n, acc, vals = P.step(s, t)
                r2 = rid
                if vals:
                    r2 = rid[:t] + (it((rid[t], vals)),) + rid[t + 1:]
                nxt[(r2, n)] = None
            if not any_:
                out.add((rid, tuple(s[0])))
        if len(nxt) > limit:
            raise Limit("value prefixes > %d" % limit)
        layer = nxt
    return len(out)


# naive versions (explicit enumeration of every interleaving): used to cross-check the above
def naive(P, cap=300_000):
    init = P.initial()
    maz, rf, rfn, vals_ = set(), set(), set(), set()
    n = 0

    def rec(s, trace):
        nonlocal n
        en = P.enabled_set(s)
        if not en:
            n += 1
            if n > cap:
                raise Limit("interleavings > %d" % cap)
            # trace: list of (t, idx, op, acc, vals)
            order = []
            last = defaultdict(list)
            for i, (t, k, op, acc, v) in enumerate(trace):
                for j in range(i):
                    t2, k2, op2, acc2, v2 = trace[j]
                    if t2 != t and any(o == o2 and 'W' in (m, m2) for o, m in acc for o2, m2 in acc2):
                        order.append(((t2, k2), (t, k)))
            maz.add((frozenset(order), s[0], s[1]))
            for locks, dst in ((True, rf), (False, rfn)):
                lw = {}
                cls = []
                for (t, k, op, acc, v) in trace:
                    for o, m in acc:
                        if P.kind[o] == 'v':
                            if op != "w":
                                cls.append(((t, k), o, lw.get(o)))
                        elif locks and op != "unlock":
                            cls.append(((t, k), o, lw.get(o)))
                    for o, m in acc:
                        if m == 'W' and (P.kind[o] == 'v' or locks):
                            lw[o] = (t, k)
                dst.add((frozenset(cls), s[0]))
            per = defaultdict(list)
            for (t, k, op, acc, v) in trace:
                per[t] += list(v)
            vals_.add((tuple(tuple(per[t]) for t in range(P.nthreads)), s[0]))
            return
        for t in en:
            op = P.code[t][s[0][t]][0]
            n2, acc, v = P.step(s, t)
            k = sum(1 for x in trace if x[0] == t)
            rec(n2, trace + [(t, k, op, acc, v)])

    rec(init, [])
    return dict(interleavings=n, maz=len(maz), rf=len(rf), rf_nolock=len(rfn), values=len(vals_))


def analyse(spec, limit=3_000_000, what=("states", "maz", "rf", "rf_nolock", "values")):
    P = Prog(spec) if isinstance(spec, dict) else spec
    res = {"name": P.name}
    t0 = time.time()
    if "states" in what:
        try:
            r = count_states(P, limit)
            for k in ("interleavings", "states", "transitions", "final", "deadlocks", "errors", "cyclic"):
                res[k] = r[k]
            if r["cyclic"]:
                res["note"] = "cyclic state graph: infinite executions; class counts omitted"
                res["seconds"] = round(time.time() - t0, 2)
                return res
        except Limit as e:
            res["states"] = str(e)
    for k, f in (("maz", lambda: count_maz(P, limit)), ("rf", lambda: count_rf(P, True, limit)[0]),
                 ("rf_nolock", lambda: count_rf(P, False, limit)[0]), ("values", lambda: count_values(P, limit))):
        if k in what:
            try:
                v = f()
                if isinstance(v, dict):
                    res.update(v)
                else:
                    res[k] = v
            except Limit as e:
                res[k] = str(e)
    res["seconds"] = round(time.time() - t0, 2)
    return res



def suite():
    """The programs of programs.jsonl beside this file."""
    import pathlib
    text = (pathlib.Path(__file__).parent / "programs.jsonl").read_text()
    return [json.loads(line)["spec"] for line in text.splitlines()]


def selftest():
    """Layered counts against explicit enumeration on every suite program small enough."""
    ok = bad = skip = 0
    for spec in suite():
        P = Prog(spec)
        try:
            n = naive(P, 30000)
        except (Limit, RecursionError):
            skip += 1
            continue
        a = analyse(P)
        d = {k: (n[k], a[k]) for k in n if n[k] != a[k]}
        if d:
            bad += 1
            print("MISMATCH", P.name, d)
        else:
            ok += 1
    print("selftest: %d programs agree, %d differ, %d too big for explicit enumeration" % (ok, bad, skip))
    return bad == 0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file", nargs="*", help="JSON program files; none: programs.jsonl")
    ap.add_argument("--selftest", action="store_true")
    ap.add_argument("--json", action="store_true")
    ap.add_argument("--limit", type=int, default=1_000_000)
    ap.add_argument("--match", default="")
    a = ap.parse_args()
    if a.selftest:
        sys.exit(0 if selftest() else 1)
    specs = [json.load(open(f)) for f in a.file] if a.file else [s for s in suite() if a.match in s["name"]]
    if not a.json:
        print("%-46s %14s %9s %9s %9s %9s %7s %8s %5s %6s  %s" % ("program", "interleavings", "maz", "rf", "rf_nolock", "values", "final", "states", "dead", "sec", "errors"))
    for s in specs:
        r = analyse(s, a.limit)
        if a.json:
            print(json.dumps(r))
        else:
            g = lambda k: r.get(k, "-")
            print("%-46s %14s %9s %9s %9s %9s %7s %8s %5s %6s  %s" % (r["name"], g("interleavings"), g("maz"), g("rf"), g("rf_nolock"), g("values"), g("final"), g("states"), g("deadlocks"), g("seconds"), ",".join(r.get("errors", []))))
        sys.stdout.flush()


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    main()
