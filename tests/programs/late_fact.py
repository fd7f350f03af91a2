"""The first write of an element comes after states have been met: from then on its reads are operations, during a
run."""

import queue
import threading


def scenario():
    items = [0, 1]
    flag = threading.Event()
    fifo = queue.Queue(1)

    def waits():
        while not flag.is_set():
            pass

    def flips():
        while not flag.is_set():
            try:
                fifo.get_nowait()
            except queue.Empty:
                pass
            items[1] = 1 - items[1]

    for body in (waits, flips):
        threading.Thread(target=body).start()
