"""Actors of pykka: a thread and an inbox each."""

import threading

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


class Box:
    """What an actor writes, and nobody else meanwhile."""

    value = 0


class Writer(pykka.ThreadingActor):
    def __init__(self, box):
        super().__init__()
        self.box = box

    def on_receive(self, message):
        self.box.value += message


def told_and_stopped():
    """The inbox is in order: who stops an actor and waits for that finds all done that it has told before."""
    box = Box()
    writer = Writer.start(box)
    writer.tell(1)
    writer.stop()
    assert box.value == 1


def told_by_two():
    box = Box()
    writer = Writer.start(box)
    other = threading.Thread(target=writer.tell, args=(1,))
    other.start()
    writer.tell(2)
    other.join()
    writer.stop()
    assert box.value == 3
