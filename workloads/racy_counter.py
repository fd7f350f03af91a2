"""Two threads add to a counter without a lock.

Shared: `Counter.hits`. The bug: `+=` reads, then writes, so an increment can get lost. 34 interleaving classes of the
accesses (two threads, two increments each).
"""

import threading


class Counter:
    def __init__(self):
        self.hits = 0

    def hit(self):
        self.hits += 1


def main():
    counter = Counter()

    def work():
        counter.hit()
        counter.hit()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.hits == 4, f"4 hits, but hits is {counter.hits}"
