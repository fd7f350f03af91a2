"""Two threads add to a counter under a lock.

Shared: `Counter.hits`, `Counter.lock`. No bug: 20 interleaving classes, the orders of the critical sections.
"""

import threading


class Counter:
    def __init__(self):
        self.hits = 0
        self.lock = threading.Lock()

    def hit(self):
        with self.lock:
            self.hits += 1


def main():
    counter = Counter()

    def work():
        for _ in range(3):
            counter.hit()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.hits == 6
