"""Actors of pykka: a thread and an inbox each."""

import pykka


class Counter(pykka.ThreadingActor):
    def __init__(self):
        super().__init__()
        self.count = 0

    def add(self, n):
        count = self.count
        self.count = count + n
        return self.count


class Adder(pykka.ThreadingActor):
    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def work(self):
        return self.counter.add(1).get()

    def read_and_add(self):
        """Two messages, between which another actor's can come."""
        count = self.counter.count.get()
        self.counter.count = count + 1


def total(method):
    counter = Counter.start().proxy()
    adders = [Adder.start(counter).proxy() for _ in range(2)]
    answers = [getattr(adder, method)() for adder in adders]
    for answer in answers:
        answer.get()
    count = counter.count.get()
    pykka.ActorRegistry.stop_all()
    return count


def one_message():
    assert total("work") == 2


def two_messages():
    assert total("read_and_add") == 2
