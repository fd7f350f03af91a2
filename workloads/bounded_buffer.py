"""A buffer for one item behind one Condition: a producer, a consumer, three items.

Shared: the buffer's list and its condition. No bug: both wait in a `while` and wake all. 32 interleaving classes.
"""

import threading


class Buffer:
    def __init__(self, capacity):
        self.items = []
        self.capacity = capacity
        self.changed = threading.Condition()

    def put(self, item):
        with self.changed:
            while len(self.items) == self.capacity:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()

    def get(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.pop(0)
            self.changed.notify_all()
            return item


def main():
    buffer = Buffer(capacity=1)
    got = []

    def produce():
        for item in range(3):
            buffer.put(item)

    def consume():
        for _ in range(3):
            got.append(buffer.get())

    threads = [threading.Thread(target=produce, name="producer"), threading.Thread(target=consume, name="consumer")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [0, 1, 2]
