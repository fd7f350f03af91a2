"""Three dining philosophers who all take the left fork first [Dijkstra 1965].

Shared: the forks. The bug: each holds a fork and waits for the next one. 7 interleaving classes, one of them the
deadlock.
"""

import threading


def main():
    forks = [threading.Lock() for _ in range(3)]

    def dine(seat):
        with forks[seat], forks[(seat + 1) % len(forks)]:
            pass

    threads = [threading.Thread(target=dine, args=(seat,), name=f"philosopher {seat}") for seat in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
