"""Buggy programs that another tool passes. Each function makes a target that starts its threads in a given order."""

import threading
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, Queue


def run(bodies, order):
    threads = [threading.Thread(target=body) for body in bodies]
    for i in order:
        threads[i].start()
    for thread in threads:
        thread.join()


def flag_under_lock(make_lock):
    def with_order(order):
        def target():
            lock = make_lock()
            state = {"ready": False}

            def publisher():
                with lock:
                    state["ready"] = True

            def consumer():
                with lock:
                    assert state["ready"], "the flag is not set yet"

            run([publisher, consumer], order)

        return target

    return with_order


FLAGS = {
    "Lock": flag_under_lock(threading.Lock),
    "RLock": flag_under_lock(lambda: threading.RLock()),
    "Semaphore": flag_under_lock(lambda: threading.Semaphore(1)),
    "Condition": flag_under_lock(threading.Condition),
}


def append_in_order(threads, times, bug):
    """The order `bug` of appending, under a lock, is the failure."""

    def with_order(order):
        def target():
            lock = threading.Lock()
            seen = []

            def body(i):
                def append():
                    for _ in range(times):
                        with lock:
                            seen.append(i)

                return append

            run([body(i) for i in range(threads)], order)
            assert seen != bug, seen
            return seen

        return target

    return with_order


def check_then_insert(order):
    def target():
        d = {}
        made = [0]

        def body():
            if "k" not in d:
                d["k"] = []
                made[0] += 1

        run([body, body], order)
        assert made[0] == 1, made[0]

    return target


def put_and_get_nowait(order):
    def target():
        queue = Queue()
        failures = []

        def put():
            queue.put(1)

        def get():
            try:
                queue.get_nowait()
            except Empty:
                failures.append("empty")

        run([put, get], order)
        assert not failures

    return target


def started_by_a_worker(order):
    def target():
        class Count:
            n = 0

        count = Count()
        count.n = 0

        def add():
            n = count.n
            count.n = n + 1

        def worker():
            run([add, add], order)

        thread = threading.Thread(target=worker)
        thread.start()
        thread.join()
        assert count.n == 2, count.n

    return target


def in_a_pool(order):
    def target():
        class Count:
            n = 0

        count = Count()
        count.n = 0

        def add():
            n = count.n
            count.n = n + 1

        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(add) for _ in order]
        for future in futures:
            future.result()
        assert count.n == 2, count.n

    return target


def lost_wakeup(order):
    def target():
        changed = threading.Condition()
        todo = []

        def consumer():
            if not todo:
                with changed:
                    changed.wait()

        def producer():
            with changed:
                todo.append(1)
                changed.notify()

        run([consumer, producer], order)

    return target
