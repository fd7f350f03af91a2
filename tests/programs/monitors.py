"""Python twins of the Java programs on which Java Pathfinder's counts are known. Each function makes a target.

Those from papers are workloads: running_example, chen_macdonald, counter, bounded_buffers, readers_writers.

A Java object with `synchronized` methods is one with a Condition of its own.
"""

import threading


def start_and_join(*threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# ---------------------------------------------------------------------- endless


class Element:
    def __init__(self):
        self.x = 0


class Container:
    def __init__(self):
        self.monitor = threading.Condition()
        self.element = None

    def put(self, element):
        self.element = element

    def transfer(self, other):
        with self.monitor:
            while self.element is None:
                self.monitor.wait()
            self.element.x = (self.element.x + 1) % 256
            with other.monitor:
                other.element = self.element
                other.monitor.notify()
                self.element = None


class Transfer(threading.Thread):
    def __init__(self, left, right):
        super().__init__()
        self.left = left
        self.right = right

    def run(self):
        while True:
            self.left.transfer(self.right)


def container_transfer():
    def target():
        first, second = Container(), Container()
        first.put(Element())
        Transfer(first, second).start()
        Transfer(second, first).start()

    return target


class Flag:
    def __init__(self):
        self.b = False


class Flip(threading.Thread):
    def __init__(self, lock, flag):
        super().__init__()
        self.lock = lock
        self.flag = flag

    def run(self):
        while True:
            with self.lock:
                self.flag.b = not self.flag.b


def lock_beside_object():
    def target():
        lock, flag = threading.Lock(), Flag()
        Flip(lock, flag).start()
        Flip(lock, flag).start()

    return target


# ---------------------------------------------------------------------- monitors


class Fork:
    def __init__(self):
        self.lock = threading.Lock()
        self.uses = 0


class Philosopher(threading.Thread):
    def __init__(self, left, right, rounds):
        super().__init__()
        self.left = left
        self.right = right
        self.rounds = rounds

    def run(self):
        for _ in range(self.rounds):
            with self.left.lock, self.right.lock:
                self.left.uses += 1
                self.right.uses += 1


def philosophers(n, rounds=1):
    def target():
        forks = [Fork() for _ in range(n)]
        start_and_join(*[Philosopher(forks[i], forks[(i + 1) % n], rounds) for i in range(n)])
        return [fork.uses for fork in forks]

    return target


class Store:
    """A buffer in one monitor: the oldest is taken, the others move up."""

    def __init__(self, capacity):
        self.monitor = threading.Condition()
        self.items = [None] * capacity
        self.count = 0
        self.capacity = capacity

    def put(self, item):
        with self.monitor:
            while self.count == self.capacity:
                self.monitor.wait()
            self.items[self.count] = item
            self.count += 1
            self.monitor.notify_all()

    def get(self):
        with self.monitor:
            while self.count == 0:
                self.monitor.wait()
            item = self.items[0]
            self.count -= 1
            for i in range(self.count):
                self.items[i] = self.items[i + 1]
            self.items[self.count] = None
            self.monitor.notify_all()
            return item


class Producer(threading.Thread):
    def __init__(self, store, items):
        super().__init__()
        self.store = store
        self.items = items

    def run(self):
        for item in self.items:
            self.store.put(item)


class Consumer(threading.Thread):
    def __init__(self, store, count):
        super().__init__()
        self.store = store
        self.count = count
        self.got = []

    def run(self):
        for _ in range(self.count):
            self.got.append(self.store.get())


def producers_consumers(producers=2, consumers=2, items=2, capacity=1):
    def target():
        store = Store(capacity)
        takers = [Consumer(store, producers * items // consumers) for _ in range(consumers)]
        makers = [Producer(store, range(p * items, (p + 1) * items)) for p in range(producers)]
        start_and_join(*makers, *takers)
        return [taker.got for taker in takers]

    return target
