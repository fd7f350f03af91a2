"""Python twins of the Java programs on which Java Pathfinder's counts are known. Each function makes a target.

A Java object with `synchronized` methods is one with a Condition of its own.
"""

import threading


def start_and_join(*threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# ---------------------------------------------------------------------- a company and two workers


class Employee:
    def __init__(self, name, salary):
        self.name = name
        self.salary = salary
        self.index = None


class Company:
    def __init__(self):
        self.employees = []

    def add(self, name, salary):
        self.add_employee(Employee(name, salary))

    def add_employee(self, employee):
        employee.index = len(self.employees)
        self.employees.append(employee)

    def print(self):
        return [f"{e.index}:{e.name}" for e in self.employees]

    def set_salary(self, index, salary):
        for e in self.employees:
            if e.index == index:
                e.salary = salary

    def get_salary(self, name):
        for e in self.employees:
            if e.name == name:
                return e.salary
        return None


class FirstWorker(threading.Thread):
    def __init__(self, company):
        super().__init__()
        self.company = company

    def run(self):
        self.company.add("david", 115)
        self.company.print()
        self.company.get_salary("john")
        self.company.set_salary(1, 150)
        self.company.print()


class SecondWorker(threading.Thread):
    def __init__(self, company):
        super().__init__()
        self.company = company

    def run(self):
        self.company.get_salary("paul")
        self.company.add("mark", 80)
        self.company.print()


def running_example():
    def target():
        company = Company()
        company.add("john", 100)
        company.add_employee(Employee("paul", 120))
        start_and_join(FirstWorker(company), SecondWorker(company))

    return target


# ---------------------------------------------------------------------- small data


class Shared:
    def __init__(self, value=0):
        self.value = value


def chen_macdonald():
    def target():
        shared = Shared(10)

        def first():
            if shared.value < 3:
                shared.value

        def second():
            shared.value = 1
            shared.value = 3
            shared.value = 4

        start_and_join(threading.Thread(target=first), threading.Thread(target=second))

    return target


def plus_minus(n):
    """One thread adds, the other subtracts, n times each."""

    def target():
        shared = Shared()

        def change(by):
            for _ in range(n):
                shared.value = shared.value + by

        start_and_join(threading.Thread(target=change, args=(1,)), threading.Thread(target=change, args=(-1,)))
        return shared.value

    return target


# ---------------------------------------------------------------------- endless


class BoundedBuffer:
    def __init__(self, bound):
        self.monitor = threading.Condition()
        self.bound = bound
        self.buffer = [None] * bound
        self.head = 0
        self.tail = bound - 1

    def add(self, item):
        with self.monitor:
            while self.tail == self.head:
                self.monitor.wait()
            self.buffer[self.head] = item
            self.head = (self.head + 1) % self.bound
            self.monitor.notify_all()

    def take(self):
        with self.monitor:
            while self.head == (self.tail + 1) % self.bound:
                self.monitor.wait()
            self.tail = (self.tail + 1) % self.bound
            self.monitor.notify_all()
            return self.buffer[self.tail]


class InOut(threading.Thread):
    def __init__(self, source, sink):
        super().__init__()
        self.source = source
        self.sink = sink

    def run(self):
        while True:
            item = self.source.take()
            self.sink.add(item)


def bounded_buffer(bound=3):
    """Two threads pass two items round, for ever."""

    def target():
        first, second = BoundedBuffer(bound), BoundedBuffer(bound)
        first.add(object())
        first.add(object())
        InOut(first, second).start()
        InOut(second, first).start()

    return target


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


class Policy:
    """Who may read or write now: writers that wait come first."""

    def __init__(self):
        self.monitor = threading.Condition()
        self.readers = 0
        self.writers = 0
        self.waiting = 0

    def start_read(self):
        with self.monitor:
            while self.writers > 0 or self.waiting > 0:
                self.monitor.wait()
            self.readers += 1

    def end_read(self):
        with self.monitor:
            self.readers -= 1
            if self.readers == 0:
                self.monitor.notify_all()

    def start_write(self):
        with self.monitor:
            self.waiting += 1
            while self.readers > 0 or self.writers > 0:
                self.monitor.wait()
            self.waiting -= 1
            self.writers += 1

    def end_write(self):
        with self.monitor:
            self.writers -= 1
            self.monitor.notify_all()


class Reader(threading.Thread):
    def __init__(self, policy, data):
        super().__init__()
        self.policy = policy
        self.data = data
        self.seen = None

    def run(self):
        self.policy.start_read()
        self.seen = self.data.value
        self.policy.end_read()


class Writer(threading.Thread):
    def __init__(self, policy, data):
        super().__init__()
        self.policy = policy
        self.data = data

    def run(self):
        self.policy.start_write()
        self.data.value += 1
        self.policy.end_write()


def readers_writers(readers=2, writers=2):
    def target():
        policy, data = Policy(), Shared()
        readings = [Reader(policy, data) for _ in range(readers)]
        start_and_join(*readings, *[Writer(policy, data) for _ in range(writers)])
        return [reader.seen for reader in readings]

    return target


# ---------------------------------------------------------------------- independent work


class Link:
    def __init__(self, tail):
        self.x = 0
        self.tail = tail


def linked(length):
    head = None
    for _ in range(length):
        head = Link(head)
    return head


def walk(node):
    while node is not None:
        node.x = node.x + 1
        node = node.tail


class BuildsAndWalks(threading.Thread):
    def __init__(self, length):
        super().__init__()
        self.length = length

    def run(self):
        walk(linked(self.length))


class Walks(threading.Thread):
    def __init__(self, length):
        super().__init__()
        self.head = linked(length)

    def run(self):
        walk(self.head)


def independent_work_1(threads=2, length=5):
    """Each thread makes a list of its own and goes through it."""

    def target():
        for _ in range(threads):
            BuildsAndWalks(length).start()

    return target


def independent_work_2(threads=2, length=5):
    """Each thread goes through a list that was made for it by the main thread, which forgets it."""

    def target():
        for _ in range(threads):
            Walks(length).start()

    return target
