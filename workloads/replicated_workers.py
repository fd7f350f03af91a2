"""Replicated Workers: workers take work from a common pool, and put back what it falls into, until there is none.

After the framework of that name that Dwyer, Hatcliff, Robby and Ranganath check (see `independent_work_1`).

Shared      `Pool`'s list of work and its number of idle workers, under the pool's condition; `Results.found`, under its
            lock
Own to one  a `Work` from when it is taken until it is put back
Immutable   `Work.start` and `.end`, `Worker.pool` and `.results`
Sizes       `workers`; `size` of the first work, which is halved until nothing is left to halve
bug=True    the worker that finds that all are idle does not wake the others: they wait for ever (a missed notification)
"""

import threading

from dpor.workloads import run


class Work:
    """The numbers from `start` up to `end`."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def halves(self):
        middle = (self.start + self.end) // 2
        return [Work(self.start, middle), Work(middle, self.end)]


class Pool:
    """Work that nobody does yet. It is over when all workers wait for more."""

    def __init__(self, workers):
        self.changed = threading.Condition()
        self.work = []
        self.workers = workers
        self.idle = 0

    def put(self, works):
        with self.changed:
            self.work.extend(works)
            self.changed.notify_all()

    def take(self):
        """None: all is done."""
        with self.changed:
            self.idle += 1
            while not self.work:
                if self.idle == self.workers:
                    self.end()
                    return None
                self.changed.wait()
            self.idle -= 1
            return self.work.pop()

    def end(self):
        self.changed.notify_all()


class HastyPool(Pool):
    def end(self):
        pass


class Results:
    def __init__(self):
        self.lock = threading.Lock()
        self.found = []

    def add(self, number):
        with self.lock:
            self.found.append(number)


class Worker(threading.Thread):
    def __init__(self, number, pool, results):
        super().__init__(name=f"worker {number}")
        self.pool = pool
        self.results = results

    def run(self):
        while (work := self.pool.take()) is not None:
            if work.end - work.start > 1:
                self.pool.put(work.halves())
            else:
                self.results.add(work.start)


def main(workers=2, size=2, bug=False):
    pool, results = (HastyPool if bug else Pool)(workers), Results()
    pool.put([Work(0, size)])
    run(*[Worker(i, pool, results) for i in range(1, workers + 1)])
    assert sorted(results.found) == list(range(size)), f"of {size} numbers there are {sorted(results.found)}"
