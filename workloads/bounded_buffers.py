"""Bounded Buffer: two threads pass two items round between two buffers, for ever.

After Dwyer, Hatcliff, Robby and Ranganath (see `independent_work_1`). It never ends: only strategies that store states
come to a verdict (`--strategy dpor`).

Shared      two `BoundedBuffer`s; every access to their fields under the buffer's monitor
Immutable   `BoundedBuffer.bound` and `.buffer`, `InOut.source` and `.sink`
Sizes       `bound`: places in a buffer, one of which stays empty

No bug.
"""

import threading


class BoundedBuffer:
    def __init__(self, bound):
        self.monitor = threading.Condition()
        self.bound = bound
        self.buffer = [None] * bound
        self.head = 0
        self.tail = bound - 1

    def add(self, item):
        with self.monitor:
            while self.tail == self.head:
                self.monitor.wait()
            self.buffer[self.head] = item
            self.head = (self.head + 1) % self.bound
            self.monitor.notify_all()

    def take(self):
        with self.monitor:
            while self.head == (self.tail + 1) % self.bound:
                self.monitor.wait()
            self.tail = (self.tail + 1) % self.bound
            self.monitor.notify_all()
            return self.buffer[self.tail]


class InOut(threading.Thread):
    def __init__(self, source, sink):
        super().__init__()
        self.source = source
        self.sink = sink

    def run(self):
        while True:
            item = self.source.take()
            self.sink.add(item)


def main(bound=3):
    first, second = BoundedBuffer(bound), BoundedBuffer(bound)
    first.add(object())
    first.add(object())
    InOut(first, second).start()
    InOut(second, first).start()
