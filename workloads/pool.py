"""Pool: threads borrow objects from a pool that makes new ones up to a limit, and give them back.

After a defect of Apache Commons Pool, of the bug benchmarks that Huang and Huang use (see `counter`).

Shared      `Pool.idle` and `Pool.active`, under `Pool.lock`
Own to one  a `Thing` while it is borrowed
Immutable   `Pool.limit`, `Thing.number`
Sizes       `threads`, each of which borrows once; `limit`: so many objects there may be
bug=True    whether a new object may be made is looked at under the lock, and that it was made is counted under it, but
            not in one go: more objects are out than there may be (check-then-act)
"""

import threading

from dpor.workloads import run


class Thing:
    def __init__(self, number):
        self.number = number


class Exhausted(Exception):
    pass


class Pool:
    def __init__(self, limit):
        self.lock = threading.Lock()
        self.limit = limit
        self.idle = []
        self.active = 0

    def borrow(self):
        with self.lock:
            self.reserve()
            return self.take()

    def reserve(self):
        """Raises `Exhausted`."""
        if self.active >= self.limit:
            raise Exhausted

    def take(self):
        self.active += 1
        return self.idle.pop() if self.idle else Thing(self.active)

    def give_back(self, thing):
        with self.lock:
            assert self.active <= self.limit, f"{self.active} objects are out, {self.limit} at most may be"
            self.active -= 1
            self.idle.append(thing)


class HastyPool(Pool):
    def borrow(self):
        with self.lock:
            self.reserve()
        with self.lock:
            return self.take()


class Borrower(threading.Thread):
    def __init__(self, number, pool):
        super().__init__(name=f"borrower {number}")
        self.pool = pool
        self.refused = False

    def run(self):
        try:
            thing = self.pool.borrow()
        except Exhausted:
            self.refused = True
        else:
            self.pool.give_back(thing)


def main(threads=2, limit=1, bug=False):
    pool = (HastyPool if bug else Pool)(limit)
    borrowers = [Borrower(i, pool) for i in range(1, threads + 1)]
    run(*borrowers)
    return [borrower.refused for borrower in borrowers]
