"""Random programs that use every construct of the language on probes (see `probes`), small enough to read."""

from __future__ import annotations

import random
from collections.abc import Callable

BINARY = ("+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^")
COMPARE = ("==", "!=", "<", "<=", ">", ">=", "in", "is", "not in", "is not")
OBJECTS = "abcdefg"
ATTRIBUTES = ("m", "n", "__p", "__q__")


class Programs:
    """Writes one program. A scope is a kind and the names that may be used in it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.depth = 0
        self.number = 0
        self.functions = 0

    def program(self) -> str:
        lines = self.block("module", ["x", "y"], 5)
        return "\n".join(["x, y, G = a.x, b.y, c.G", *lines, ""])

    # ------------------------------------------------------------------ expressions

    def one(self, *options: str) -> str:
        return self.random.choice(options)

    def expression(self, kind: str, names: list[str]) -> str:
        """`kind`: of the scope, "comprehension" inside one."""
        self.depth += 1
        try:
            if self.depth > 4 or self.random.random() < 0.3:
                return self.atom(names)
            return self.random.choice(self.forms(kind))(lambda: self.expression(kind, names), names, kind)
        finally:
            self.depth -= 1

    def atom(self, names: list[str]) -> str:
        constants = ("1", "0", "2.5", "'s'", "b'b'", "None", "True", "-3", "...")
        return self.one(*OBJECTS, *OBJECTS, *OBJECTS, *names, *names, self.one(*constants))

    def forms(self, kind: str) -> list[Callable[..., str]]:
        forms: list[Callable[..., str]] = [
            *(self._attribute, self._subscript, self._slice, self._call, self._method, self._splat, self._displays),
            *(self._binary, self._unary, self._compare, self._compare, self._chain, self._chain, self._boolean),
            *(self._ternary, self._text, self._comprehension, self._comprehension, self._lambda, self._generator),
        ]
        if kind in ("function", "module", "coroutine", "class"):
            forms.append(self._walrus)
        if kind == "coroutine":
            forms += [self._await] * 3
        if kind == "generator":
            forms += [self._yield] * 3
        return forms

    def _attribute(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({e()}).{self.one(*ATTRIBUTES)}"

    def _subscript(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({e()})[{e()}]"

    def _slice(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"{self.one(*OBJECTS)}[{self.one(':', f'{e()}:', f':{e()}', f'{e()}:{e()}:{e()}, {e()}', f'*{e()}, 1')}]"

    def _call(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"{self.one(*OBJECTS)}({e()}, k={e()})"

    def _method(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({e()}).{self.one(*ATTRIBUTES)}({e()})"

    def _splat(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"{self.one(*OBJECTS)}({e()}, *{self.one(*OBJECTS)}, *[{e()}], **{self.one(*OBJECTS)}, z={e()})"

    def _displays(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return self.one(
            f"({e()}, {e()})",
            f"[{e()}, *{e()}]",
            f"{{'k': {e()}, **{self.one(*OBJECTS)}}}",
            f"(*{e()}, {e()})",
            f"{{{self.one(*OBJECTS)}}}",
        )

    def _binary(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({e()} {self.one(*BINARY)} {e()})"

    def _unary(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({self.one('-', '~', '+', 'not ')}{e()})"

    def _compare(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({e()} {self.one(*COMPARE)} {e()})"

    def _chain(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        links = "".join(f" {self.one(*COMPARE)} {e()}" for _ in range(self.random.randint(2, 3)))
        return f"({e()}{links})"

    def _boolean(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({e()} {self.one('and', 'or')} {e()} {self.one('and', 'or')} {e()})"

    def _ternary(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({e()} if {e()} else {e()})"

    def _text(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        a, b = self.one(*OBJECTS), self.one(*OBJECTS)
        return self.one(f"f'{{{a}}}-{{{b}.m!r:>{{3}}}}'", f"f'{{{a}[0]:{{{b}}}}}'", f"('%s' % {a})", f"f'{{{a}=}}'")

    def _walrus(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({self.one(*names)} := {e()})"

    def _await(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"(await {self.one(*OBJECTS)})"

    def _yield(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"({self.one('yield', 'yield from')} {self.one(*OBJECTS)})"

    def _lambda(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        inner = self.expression("lambda", [*names, "v"])
        return self.one(f"(lambda v={e()}: {inner})()", f"(lambda v, *w: {inner})({e()}, *{self.one(*OBJECTS)})")

    def _comprehension(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        """Its variables may be captured by lambdas, be attributes, or unpack."""
        inner = [*names, "i", "j"]
        target = self.one("i", "i, j", "i, *j", "i, (j, k)", f"{self.one(*OBJECTS)}.m", f"i, {self.one(*OBJECTS)}[i]")
        again = lambda: self.expression("comprehension", inner)
        pairs = f"[({e()}, ({e()}, 2)), ({e()}, {self.one(*OBJECTS)})]"
        source = pairs if target not in ("i", "i, j") else self.one(e(), pairs, f"enumerate({self.one(*OBJECTS)})")
        clauses = f"for {target} in {source}"
        if self.random.random() < 0.3:
            clauses += f" for {self.one('j', 'i, j', 'k')} in {again()}"
        if self.random.random() < 0.4:
            clauses += f" if {again()}"
        element = self.one(again(), f"(lambda: {again()})()", "(lambda: i)")
        return self.one(
            f"[{element} {clauses}]",
            f"list({element} {clauses})",
            f"{{({again()} is None): {element} {clauses}}}",
            f"{{({again()} is None) {clauses}}}",
        )

    def _generator(self, e: Callable[[], str], names: list[str], kind: str) -> str:
        return f"{self.one('list', 'any', 'a', 'b.m')}({self.expression('comprehension', names)} for i in {e()})"

    # ------------------------------------------------------------------ statements

    def block(self, kind: str, names: list[str], length: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, length)):
            lines += self.statement(kind, names)
        return lines

    def statement(self, kind: str, names: list[str]) -> list[str]:
        self.depth += 1
        try:
            simple = [
                self._assign,
                self._assign,
                self._augmented,
                self._delete,
                self._plain,
                self._assert,
                self._annotated,
                self._import,
            ]
            compound = [self._if, self._while, self._for, self._with, self._try, self._match, self._def, self._class]
            forms = simple if self.depth > 3 or self.random.random() < 0.6 else compound
            lines = self.random.choice(forms)(kind, names)
            if self.random.random() < 0.4:
                return ["try:", *indent(lines), "except Exception as caught:", "    log('caught', caught)"]
            return lines
        finally:
            self.depth -= 1

    def body(self, kind: str, names: list[str]) -> list[str]:
        """Of a function: compound statements again, if it is not too deep."""
        depth, self.functions = self.depth, self.functions + 1
        if self.functions <= 2:
            self.depth = min(depth, 2)
        try:
            return self.block(kind, names, 4)
        finally:
            self.depth, self.functions = depth, self.functions - 1

    def value(self, kind: str, names: list[str]) -> str:
        return self.expression(kind, names)

    def target(self, kind: str, names: list[str]) -> str:
        obj = self.one(*OBJECTS, *names)
        return self.one(
            *names,
            f"{obj}.{self.one(*ATTRIBUTES)}",
            f"{obj}[{self.value(kind, names)}]",
            f"{obj}[1:{self.one(*names)}]",
        )

    def targets(self, kind: str, names: list[str]) -> str:
        t = lambda: self.target(kind, names)
        return self.one(
            t(), t(), f"{t()}, {t()}", f"[{t()}, *{t()}]", f"{t()}, ({t()}, {t()})", f"({t()}, {t()}), {t()}"
        )

    def _assign(self, kind: str, names: list[str]) -> list[str]:
        chain = "".join(f"{self.targets(kind, names)} = " for _ in range(self.random.choice((1, 1, 1, 2))))
        e = lambda: self.value(kind, names)
        return [chain + self.one(e(), e(), f"{e()}, {e()}", f"{e()}, ({e()}, {e()})", self.one(*OBJECTS))]

    def _annotated(self, kind: str, names: list[str]) -> list[str]:
        obj = self.one(*OBJECTS)
        return [
            self.one(f"{obj}.m: {obj}.note = {self.value(kind, names)}", f"{obj}[0]: {obj}.note", f"w: {obj}.note = 1")
        ]

    def _import(self, kind: str, names: list[str]) -> list[str]:
        name = self.one(*names)
        return [
            self.one(f"import string as {name}", f"from string import digits as {name}, hexdigits", "import os.path")
        ]

    def _augmented(self, kind: str, names: list[str]) -> list[str]:
        operator = self.one("+=", "-=", "*=", "|=", "%=")
        return [f"{self.target(kind, names)} {operator} {self.one('1', '2.5', self.value(kind, names))}"]

    def _delete(self, kind: str, names: list[str]) -> list[str]:
        obj = self.one(*OBJECTS)
        what = self.one(f"{obj}.m", f"{obj}[{self.value(kind, names)}]", f"({obj}.m, {obj}[1:2])", "()")
        if self.random.random() < 0.2:
            name = self.one(*names)
            return [f"{name} = 5", f"del {name}, {what}", f"{name} = 6"]
        return [f"del {what}"]

    def _plain(self, kind: str, names: list[str]) -> list[str]:
        return [f"log({self.value(kind, names)})"]

    def _assert(self, kind: str, names: list[str]) -> list[str]:
        return [f"assert {self.value(kind, names)} or 1, {self.value(kind, names)}"]

    def _if(self, kind: str, names: list[str]) -> list[str]:
        first, second = self.block(kind, names, 2), self.block(kind, names, 2)
        return [f"if {self.value(kind, names)}:", *indent(first), f"elif {self.value(kind, names)}:", *indent(second)]

    def _while(self, kind: str, names: list[str]) -> list[str]:
        jump = self.one("pass", "break", "continue")
        body = [*self.block(kind, names, 2), f"if {self.value(kind, names)}: {jump}"]
        return ["while again():", *indent(body), "else:", *indent(self.block(kind, names, 1))]

    def _for(self, kind: str, names: list[str]) -> list[str]:
        asynchronous = "async " if kind == "coroutine" and self.random.random() < 0.4 else ""
        target = self.targets(kind, names)
        source = (
            self.one(*OBJECTS) if asynchronous else self.one(self.value(kind, names), f"zip(a, {self.one(*OBJECTS)})")
        )
        jump = self.one("pass", "break", "continue")
        body = ["log('turn')", *self.block(kind, names, 2), f"if {self.value(kind, names)}: {jump}"]
        return [f"{asynchronous}for {target} in {source}:", *indent(body), "else:", "    log('else')"]

    def _with(self, kind: str, names: list[str]) -> list[str]:
        asynchronous = "async " if kind == "coroutine" and self.random.random() < 0.4 else ""
        items = []
        for _ in range(self.random.randint(1, 3)):
            target = self.one(
                "", f" as {self.target(kind, names)}", f" as ({self.target(kind, names)}, {self.one(*names)})"
            )
            items.append(f"{self.one(*OBJECTS)}{target}")
        return [f"{asynchronous}with {', '.join(items)}:", *indent(self.block(kind, names, 2))]

    def _try(self, kind: str, names: list[str]) -> list[str]:
        body = [*self.block(kind, names, 2), self.one("pass", "log(1/0)", "log({}[a])", "raise ValueError(a)")]
        star = self.one("", "", "*")
        handlers: list[str] = []
        for caught in ("ZeroDivisionError", self.one("LookupError", "(TypeError, NameError)", "ValueError")):
            name = self.one("", f" as {self.one(*names)}", f" as {self.one(*names)}")
            handlers += [f"except{star} {caught}{name}:", *indent(self.block(kind, names, 2))]
        ending = self.one("", "finally")
        return ["try:", *indent(body), *handlers, *(["finally:", "    log('finally')"] if ending else [])]

    def _match(self, kind: str, names: list[str]) -> list[str]:
        x, y = self.random.sample(names, 2)
        patterns = [
            f"[{x}, *{y}]",
            f"({x}, ({y}, _))",
            f"{{'k': {x}, **{y}}}",
            f"a.m | b.n as {x}",
            f"int() as {x}",
            "1 | 2",
            "None | a.n",
        ]
        lines = []
        for pattern in self.random.sample(patterns, 2):
            guard = self.one("", f" if {self.value(kind, names)}")
            lines += indent([f"case {pattern}{guard}:", *indent(self.block(kind, names, 1))])
        subject = self.one(self.value(kind, names), "[1, 2, 3]", "{'k': a, 'l': b}", f"{self.one(*OBJECTS)}, (b, c)")
        return [f"match {subject}:", *lines]

    def _def(self, kind: str, names: list[str]) -> list[str]:
        """A function that may rebind what is around it, and is called at once, often twice."""
        self.number += 1
        name = self.one(f"f{self.number}", *names)
        inner = self.one("function", "function", "generator", "coroutine")
        outer_names = [n for n in names if n not in ("G",)] if kind in ("function", "generator", "coroutine") else []
        declared = []
        if self.random.random() < 0.5:
            declared.append(f"global {self.one('G', 'x' if kind == 'module' else 'G')}")
        if outer_names and self.random.random() < 0.6:
            chosen = self.one(*outer_names)
            if not any(line.endswith(" " + chosen) for line in declared):
                declared.append(f"nonlocal {chosen}")
        free = [n for n in names if self.random.random() < 0.4]
        named = [line.split()[-1] for line in declared]
        local = [n for n in ("x", "y", "z") if n not in free and n not in named]
        parameters = f"z={self.value(kind, names)}" if "z" in local and "z" not in named else ""
        body = [*declared, *(f"{n} = d.{n}" for n in local if n != "z" or not parameters)]
        body += self.body(inner, sorted({*local, *named, *free, "x"}))
        body.append("log('locals', sorted(n for n in locals() if n[0] != '.'))")
        if self.random.random() < 0.3:
            body.append(f"return {self.value(inner, [*local, 'x'])}")
        decorator = [f"@{self.one('a.m', 'b')}"] if self.random.random() < 0.1 else []
        call = {"function": f"{name}()", "generator": f"list({name}())", "coroutine": f"run({name}())"}[inner]
        if decorator:
            call = f"{name}()"
        header = f"{'async ' if inner == 'coroutine' else ''}def {name}({parameters}):"
        if inner == "generator":
            body.append("yield x")
        return [*decorator, header, *indent(body), f"log('call', {call})", *(self.one(f"log({call})", ""),)]

    def _class(self, kind: str, names: list[str]) -> list[str]:
        self.number += 1
        name = f"C{self.number}"
        declared = [self.one("", "global G")]
        if kind in ("function", "generator", "coroutine"):
            chosen = self.one(*(n for n in names if n != "G"))
            declared.append(self.one("", f"nonlocal {chosen}"))
        body = [*filter(None, declared), *self.block("class", ["x", "y", "G"], 4)]
        method = [
            "def method(self, x=0):",
            *indent([*self.block("function", ["x", "self"], 3), "return super().__repr__"]),
        ]
        made = f"log(sorted(n for n in vars({name}) if n[:2] != '__'), {name}().method() is not None)"
        return [f"class {name}:", *indent([*body, *method]), made]


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
