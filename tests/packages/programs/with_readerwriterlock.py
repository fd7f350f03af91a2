"""A reader under a fair lock never sees half of what a writer does."""

import threading

from readerwriterlock import rwlock


def consistent() -> None:
    lock = rwlock.RWLockFair()
    pair = [0, 0]

    def write() -> None:
        with lock.gen_wlock():
            pair[0] += 1
            pair[1] += 1

    def read() -> None:
        with lock.gen_rlock():
            assert pair[0] == pair[1]

    threads = [threading.Thread(target=body) for body in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
