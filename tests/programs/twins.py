"""Python twins of the programs whose exact numbers of trace classes are known. Each function makes a target."""

import threading


def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Cell:
    def __init__(self, value=0):
        self.value = value


def readers(n):
    def target():
        x = Cell()

        def write():
            x.value = 1

        def read():
            x.value

        run(write, *[read] * n)

    return target


def lastzero(n):
    def target():
        array = [0] * (n + 1)

        def search():
            i = n
            while array[i] != 0:
                i -= 1

        def writer(j):
            def body():
                v = array[j - 1]
                array[j] = v + 1

            return body

        run(search, *[writer(j) for j in range(1, n + 1)])

    return target


def filesystem(n, inodes=32, blocks=26):
    def target():
        locki = [threading.Lock() for _ in range(inodes)]
        lockb = [threading.Lock() for _ in range(blocks)]
        inode = [0] * inodes
        busy = [0] * blocks

        def worker(t):
            def body():
                i = t % inodes
                locki[i].acquire()
                if inode[i] == 0:
                    b = 2 * i % blocks
                    while True:
                        lockb[b].acquire()
                        if busy[b] == 0:
                            busy[b] = 1
                            inode[i] = b + 1
                            lockb[b].release()
                            break
                        lockb[b].release()
                        b = (b + 1) % blocks
                locki[i].release()

            return body

        run(*[worker(t) for t in range(n)])

    return target


def indexer(n, size=128, messages=4):
    def target():
        table = [0] * size
        locks = [threading.Lock() for _ in range(size)]

        def cas(h, w):
            with locks[h]:
                if table[h] == 0:
                    table[h] = w
                    return True
                return False

        def worker(t):
            def body():
                for m in range(1, messages + 1):
                    w = 11 * m + t
                    h = 7 * w % size
                    while not cas(h, w):
                        h = (h + 1) % size

            return body

        run(*[worker(t) for t in range(n)])

    return target


def counter(threads, times):
    def target():
        c = Cell()

        def add():
            for _ in range(times):
                a = c.value
                c.value = a + 1

        run(*[add] * threads)
        return c.value

    return target


def locked_counter(threads, times):
    def target():
        c = Cell()
        lock = threading.Lock()

        def add():
            for _ in range(times):
                with lock:
                    a = c.value
                    c.value = a + 1

        run(*[add] * threads)
        return c.value

    return target


def philosophers(n):
    def target():
        forks = [threading.Lock() for _ in range(n)]

        def philosopher(i):
            def body():
                left, right = forks[i], forks[(i + 1) % n]
                left.acquire()
                right.acquire()
                right.release()
                left.release()

            return body

        run(*[philosopher(i) for i in range(n)])

    return target


def writers(n, k):
    def target():
        x = Cell()

        def writer(i):
            def body():
                x.value = i

            return body

        def reader():
            for _ in range(k):
                x.value

        run(*[writer(i) for i in range(n)], reader)

    return target


def sb(n):
    def target():
        cells = [Cell() for _ in range(n)]
        seen = [Cell() for _ in range(n)]

        def body(i):
            def write_and_read():
                cells[i].value = 1
                seen[i].value = cells[(i + 1) % n].value

            return write_and_read

        run(*[body(i) for i in range(n)])
        return [s.value for s in seen]

    return target


def fib_bench(n):
    def target():
        i, j = Cell(1), Cell(1)

        def first():
            for _ in range(n):
                b = j.value
                a = i.value
                i.value = a + b

        def second():
            for _ in range(n):
                a = i.value
                b = j.value
                j.value = a + b

        run(first, second)

    return target


def chen_macdonald():
    def target():
        val = Cell(10)

        def first():
            if val.value < 3:
                val.value

        def second():
            val.value = 1
            val.value = 3
            val.value = 4

        run(first, second)

    return target


def bounded_buffer(capacity, items):
    def target():
        changed = threading.Condition(threading.Lock())
        buffer = []

        def producer():
            for item in range(items):
                with changed:
                    while len(buffer) == capacity:
                        changed.wait()
                    buffer.append(item)
                    changed.notify_all()

        def consumer():
            for _ in range(items):
                with changed:
                    while not buffer:
                        changed.wait()
                    buffer.pop(0)
                    changed.notify_all()

        run(producer, consumer)

    return target


def semaphore_buffer(capacity, items):
    def target():
        free, filled, mutex = threading.Semaphore(capacity), threading.Semaphore(0), threading.Lock()
        buffer = []

        def producer():
            for item in range(items):
                free.acquire()
                with mutex:
                    buffer.append(item)
                filled.release()

        def consumer():
            for _ in range(items):
                filled.acquire()
                with mutex:
                    buffer.pop(0)
                free.release()

        run(producer, consumer)

    return target
