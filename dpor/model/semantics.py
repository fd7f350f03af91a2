"""The semantics of abstract programs: compiles the statements of each thread to a list of instructions (`Code`).

An instruction is a closure made once, so that repeating an event costs a call and a few list accesses. A *visible*
instruction (`dpor.model.steps`) performs one operation on shared objects; a *local* one only touches its thread's
registers and says which instruction is next. Locks, semaphores, conditions and threads follow `dpor.primitives`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpor.core.operations import READ, WRITE, OperationTable, ThreadId
from dpor.core.outcome import Finding, Kind
from dpor.model import steps
from dpor.model.expressions import Evaluate, Expression, Value
from dpor.model.machine import AbstractMachine, Act, Code, Find, Local, Registers, StatementPlace, Step
from dpor.model.operands import Names, Operands, Values, direct
from dpor.model.rules import Await, CompareAndSwap, Unlock
from dpor.model.tree import Body, If, Program, Repeat, Simple, Sort, While
from dpor.primitives.conditions import Notify, Retake, Rewait, RewaitOrTimeout, Wait
from dpor.primitives.locks import Acquire, AcquireAgain, ReleaseAgain, Try, TryAgain
from dpor.primitives.rules import BaseRule
from dpor.primitives.semaphores import P, TryP, V
from dpor.primitives.threads import NEW, RUNNING, End, Join, Start

_RULES: Final[dict[str, BaseRule]] = {
    "lock": Acquire(),
    "unlock": Unlock(),
    "try": Try(),
    "tlock": Try(),
    "P": P(),
    "V": V(),
    "tP": TryP(),
    "notify": Notify(1),
    "notifyall": Notify(None),
}
_REENTRANT: Final[dict[str, BaseRule]] = {
    "lock": AcquireAgain(),
    "unlock": ReleaseAgain(),
    "try": TryAgain(),
    "tlock": TryAgain(),
}
_LEVELS: Final = ".levels"
"""The register that keeps the count of a re-entrant lock during a wait. No program can write its name."""


class Semantics:
    """A compiled program.

    program    the program
    codes      the instructions of each thread
    initial    the states of all objects at the start, by location
    spawned    the threads that do not run until another spawns them
    joined     the threads whose end is an event
    watched    the variables that some operation waits for or compares; `awaited`: those that one waits for
    """

    def __init__(self, program: Program, table: OperationTable) -> None:
        threads = range(len(program.threads))
        statements = [s for thread in threads for s in program.statements(thread)]
        self.program = program
        self.table = table
        self.spawned = frozenset(s.number for s in statements if s.word == "spawn")
        self.joined = frozenset(s.number for s in statements if s.word == "join")
        self.sorts = {o.name: o.sort for o in program.objects}
        self.initial: list[Any] = []
        for declared in program.objects:
            self._place(declared.name, () if declared.sort is Sort.CONDITION else declared.initial)
        for thread in sorted(self.spawned | self.joined):
            self._place(status_name(thread), NEW if thread in self.spawned else RUNNING)
        self.watched = frozenset(
            table.location(name)
            for s in statements
            if s.word in ("await", "cas")
            for name in s.objects[0].elements.values()
        )
        self.awaited = frozenset(
            table.location(name) for s in statements if s.word == "await" for name in s.objects[0].elements.values()
        )
        self.codes = [_ThreadCompiler(self, thread).compile() for thread in threads]

    def _place(self, name: str, state: object) -> None:
        location = self.table.location(name)
        assert location == len(self.initial), "locations are indices of the memory"
        self.initial.append(state)


def status_name(thread: ThreadId) -> str:
    """Return the name of the location that holds the thread's status."""
    return f"thread {thread}"


class _ThreadCompiler:
    """Compiles the statements of one thread, in order."""

    def __init__(self, semantics: Semantics, thread: ThreadId) -> None:
        self._semantics = semantics
        self._thread = thread
        self._code = Code(thread)
        self._operands = Operands(semantics.table, thread, semantics.watched)
        self._place = StatementPlace("", "")  # of the present statement
        self._halts: list[tuple[int, Evaluate]] = []  # to be completed when the position of the thread's end is known

    def compile(self) -> Code:
        program, code = self._semantics.program, self._code
        self._operands.register("tid")
        self._body(program.threads[self._thread])
        last = len(code.steps)
        for position, holds in self._halts:
            code.locals[position] = _branch(holds, last, position + 1)
        if self._thread in self._semantics.joined:
            self._place = StatementPlace(f"T{self._thread}:end", "end")
            self._on_status("end", self._thread, End())
        code.add_end()
        initial: dict[str, Value] = {"tid": self._thread}
        initial |= {name: values[self._thread] for name, values in program.registers.items()}
        code.registers = list(self._operands.positions)
        code.initial = [initial.get(name, 0) for name in code.registers]
        return code

    # ------------------------------------------------------------------ control flow

    def _body(self, body: Body) -> None:
        for statement in body:
            match statement:
                case Simple():
                    self._place = self._at(statement.place, statement.text)
                    self._simple(statement)
                case If():
                    self._if(statement)
                case While():
                    self._while(statement)
                case Repeat():
                    for _ in range(statement.times):
                        self._body(statement.body)

    def _if(self, statement: If) -> None:
        code, holds = self._code, self._operands.expression(statement.condition)
        branch = self._reserve(self._at(statement.place, f"if {statement.condition.text}"))
        self._body(statement.then)
        if statement.otherwise:
            jump = self._reserve(code.places[branch])
            code.locals[branch] = _branch(holds, branch + 1, len(code.steps))
            self._body(statement.otherwise)
            code.locals[jump] = _jump(len(code.steps))
        else:
            code.locals[branch] = _branch(holds, branch + 1, len(code.steps))

    def _while(self, statement: While) -> None:
        code, holds = self._code, self._operands.expression(statement.condition)
        code.has_loops = True
        branch = self._reserve(self._at(statement.place, f"while {statement.condition.text}"))
        self._body(statement.body)
        code.add_local(code.places[branch], _jump(branch))
        code.locals[branch] = _branch(holds, branch + 1, len(code.steps))

    def _reserve(self, place: StatementPlace) -> int:
        """Add a local instruction that is filled in when its target is known. Returns its position."""
        self._code.add_local(place, _jump(0))
        return len(self._code.steps) - 1

    def _at(self, place: str, text: str) -> StatementPlace:
        return StatementPlace(f"T{self._thread}:{place}", text)

    # ------------------------------------------------------------------ statements

    def _simple(self, s: Simple) -> None:
        self._code.statements.append((len(self._code.steps), s))
        match s.word:
            case "r" | "w" | "rmw" | "cas" | "await":
                self._data(s)
            case "wait" | "twait":
                self._wait(s)
            case "spawn":
                self._spawn(s.number)
            case "join":
                self._on_status("join", s.number, Join())
            case "choose":
                self._choose(s)
            case "let" | "assert" | "halt":
                self._local(s)
            case _:
                self._synchronise(s)

    def _data(self, s: Simple) -> None:
        """Compile an access of a variable."""
        operands = self._operands
        if s.word == "r":
            find = operands.find(s.objects, operands.data("read", READ))
            self._step(find, steps.read(find, operands.register(s.register)))
        elif s.word == "w":
            find = operands.find(s.objects, operands.data("write", WRITE))
            self._step(find, steps.write(find, operands.expression(s.expressions[0])))
        elif s.word == "rmw":
            register = operands.register(s.register)
            find = operands.find(s.objects, operands.data("rmw", WRITE))
            self._step(find, steps.read_modify_write(find, register, operands.expression(s.expressions[0])))
        elif s.word == "cas":
            bind = operands.ruled("cas", lambda names, values: CompareAndSwap(*values))
            find = operands.find(s.objects, bind, operands.values(s.expressions))
            self._step(find, steps.perform_into(find, operands.register(s.register)))
        else:
            register = operands.register("_")
            find = self._find_await(s)
            self._step(find, steps.perform_into(find, register))

    def _find_await(self, s: Simple) -> Find:
        condition = s.expressions[0]
        names = tuple([name for name in condition.names if name != "_"])
        bind = self._operands.ruled("await", lambda _, values: Await(condition.text, names, values))
        return self._operands.find(s.objects, bind, self._operands.values([Expression(n, (n,)) for n in names]))

    def _synchronise(self, s: Simple) -> None:
        """Compile an operation on a lock, a semaphore or a condition."""
        sorts = self._semantics.sorts

        def rule(names: Names, _: Values) -> BaseRule:
            return (_REENTRANT if sorts[names[0]] is Sort.RLOCK else _RULES)[s.word]

        find = self._operands.find(s.objects, self._operands.ruled(s.word, rule))
        if s.register:
            timed = s.word in ("tlock", "tP")
            self._step(find, steps.attempt(find, self._operands.register(s.register), timed))
        elif s.word == "unlock":
            note = self._misuse("unlock-not-owned", f"{s.text}, which it does not hold")
            self._step(find, steps.succeed(find, note))
        else:
            self._step(find, steps.perform(find))

    def _wait(self, s: Simple) -> None:
        """Compile a wait. It has two operations: give the lock up, and take it again or time out. A timed wait has a
        third: take the lock after the timeout."""
        operands, sorts = self._operands, self._semantics.sorts
        levels = None
        if any(sorts[name] is Sort.RLOCK for name in s.objects[1].elements.values()):
            levels = operands.register(_LEVELS)

        def find_again(rule: Callable[[int | None], BaseRule]) -> Find:
            """Return how to find the act that takes the lock again. `rule` takes the count of a re-entrant lock, or
            None."""
            if levels is None:
                return operands.find(s.objects, operands.ruled("rewait", lambda _, values: rule(None)))
            register = levels
            bind = operands.ruled(
                "rewait", lambda names, values: rule(values[0] if sorts[names[1]] is Sort.RLOCK else None)
            )
            return operands.find(s.objects, bind, lambda registers: (registers[register],))

        find = operands.find(s.objects, operands.ruled("wait", lambda _, values: Wait()))
        self._step(find, steps.begin_wait(find, self._thread, levels))
        if s.word == "wait":
            find = find_again(Rewait)
            self._step(find, steps.end_wait(find, levels))
            return
        notified = operands.register(s.register)
        find = find_again(RewaitOrTimeout)
        self._step(find, steps.end_wait(find, levels, notified))
        retake = len(self._code.steps) + 1
        self._code.add_local(self._place, _branch(lambda registers: registers[notified], retake + 1, retake))
        find = find_again(Retake)
        self._step(find, steps.end_wait(find, levels))

    def _spawn(self, thread: ThreadId) -> None:
        table, status = self._semantics.table, status_name(thread)
        find = self._operands.find([direct(status)], self._operands.ruled("start", lambda *_: Start(), starts=thread))
        # A spawn that fails starts nothing, so no event of the other thread comes after it because of it.
        failed = table.intern("start", ((table.location(status), READ),), Start(), self._thread)
        note = self._misuse("spawned-again", f"spawn {thread}, which was spawned before")
        self._step(find, steps.spawn(find, thread, failed, note))

    def _on_status(self, kind: str, thread: ThreadId, rule: BaseRule) -> None:
        find = self._operands.find([direct(status_name(thread))], self._operands.ruled(kind, lambda *_: rule))
        self._step(find, steps.perform(find))

    def _choose(self, s: Simple) -> None:
        intern = self._semantics.table.intern
        operations = [intern("choose", (), value=value, alternatives=s.number) for value in range(s.number)]
        act = Act(operations[0], recorded=False)
        self._step(lambda registers: act, steps.choose(operations, self._operands.register(s.register)))

    def _local(self, s: Simple) -> None:
        position = len(self._code.steps)
        if s.word == "let":
            register = self._operands.register(s.register)
            value = self._operands.expression(s.expressions[0])
            self._code.add_local(self._place, _let(register, value, position + 1))
        elif s.word == "halt":
            self._halts.append((position, self._operands.expression(s.expressions[0])))
            self._reserve(self._place)
        else:
            self._code.add_local(self._place, self._assert(s.expressions[0], position + 1))

    def _assert(self, condition: Expression, after: int) -> Local:
        holds = self._operands.expression(condition)
        thread = f"T{self._thread}"
        message = f"AssertionError: {thread}: {condition.text}"
        read = [(name, self._operands.register(name)) for name in condition.names]

        def local(registers: Registers, machine: AbstractMachine) -> int:
            if not holds(registers):
                values = tuple(f"{name} is {registers[i]}" for name, i in read)
                finding = Finding(Kind.ASSERTION, message, thread, needs_timeout=machine.timed_out, details=values)
                machine.fail(f"{thread}:{condition.text}", finding)
            return after

        return local

    def _misuse(self, label: str, text: str) -> steps.Note:
        """Return a note that reports a misuse of the present statement: `text` says which."""
        thread = f"T{self._thread}"

        def note(machine: AbstractMachine) -> None:
            message = f"RuntimeError: {thread}: {text}"
            machine.fail(f"{thread}:{label}", Finding(Kind.EXCEPTION, message, thread, needs_timeout=machine.timed_out))

        return note

    def _step(self, find: Find, step: Step) -> None:
        self._code.add_step(self._place, find, step)


# ---------------------------------------------------------------------- local instructions


def _let(register: int, value: Evaluate, after: int) -> Local:
    def local(registers: Registers, machine: AbstractMachine) -> int:
        registers[register] = value(registers)
        return after

    return local


def _branch(holds: Evaluate, then: int, otherwise: int) -> Local:
    return lambda registers, machine: then if holds(registers) else otherwise


def _jump(target: int) -> Local:
    return lambda registers, machine: target
