"""The Python programs that are measured. Each function is a target."""

import threading


def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Counter:
    def __init__(self):
        self.value = 0

    def add(self):
        seen = self.value
        self.value = seen + 1


def racy(threads, times):
    counter = Counter()

    def work():
        for _ in range(times):
            counter.add()

    run(*[work] * threads)
    return counter.value


def racy_2x1():
    return racy(2, 1)


def racy_2x3():
    return racy(2, 3)


def racy_2x5():
    return racy(2, 5)


def racy_3x1():
    return racy(3, 1)


def locked_2x3():
    counter, lock = Counter(), threading.Lock()

    def work():
        for _ in range(3):
            with lock:
                counter.add()

    run(work, work)
    return counter.value


def deadlock():
    first, second = threading.Lock(), threading.Lock()

    def one():
        with first, second:
            pass

    def other():
        with second, first:
            pass

    run(one, other)


def philosophers_3():
    forks = [threading.Lock() for _ in range(3)]

    def philosopher(i):
        def body():
            with forks[i], forks[(i + 1) % 3]:
                pass

        return body

    run(*[philosopher(i) for i in range(3)])


def readers(n):
    x = Counter()

    def write():
        x.value = 1

    def read():
        return x.value

    run(write, *[read] * n)


def readers_4():
    readers(4)


def readers_8():
    readers(8)


def lastzero_3():
    array = [0, 0, 0, 0]

    def search():
        i = 3
        while array[i] != 0:
            i -= 1

    def writer(j):
        def body():
            array[j] = array[j - 1] + 1

        return body

    run(search, *[writer(j) for j in range(1, 4)])


def buffer_1x3():
    changed = threading.Condition()
    buffer = []

    def producer():
        for item in range(3):
            with changed:
                while len(buffer) == 1:
                    changed.wait()
                buffer.append(item)
                changed.notify_all()

    def consumer():
        for _ in range(3):
            with changed:
                while not buffer:
                    changed.wait()
                buffer.pop(0)
                changed.notify_all()

    run(producer, consumer)


def private_1000():
    """1,000 accesses to an object of one's own in each thread, then one to a shared object."""
    shared = Counter()

    def work():
        own = Counter()
        for _ in range(500):
            own.value = own.value + 1
        shared.value = own.value

    run(work, work)
    return shared.value
