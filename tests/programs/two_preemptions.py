"""Programs of three threads whose failure needs two preemptions: one thread is interrupted where something of its own
is half done, and so is another one that has seen this. What the threads log afterwards has very many orders."""

import threading
from collections import deque
from queue import Empty, Queue


class State:
    opened = seen = 0


def _run(opens, looks, logs):
    """Let two threads open something and one look whether it is open; then let each log some entries."""
    log = []

    def thread(work):
        def whole():
            work()
            for entry in range(logs):
                log.append(entry)

        return threading.Thread(target=whole)

    threads = [thread(work) for work in (opens, looks, lambda: None)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def field(logs=0):
    """A flag is set for a moment; who sees it sets another one for a moment."""
    s = State()

    def opens():
        s.opened = 1
        assert not s.seen
        s.opened = 0

    def looks():
        if s.opened:
            s.seen = 1
            s.seen = 0

    _run(opens, looks, logs)


def element(logs=0):
    """Two slots of a list, each occupied for a moment."""
    slots = [None, None]

    def opens():
        slots[0] = "opened"
        assert slots[1] is None
        slots[0] = None

    def looks():
        if slots[0] is not None:
            slots[1] = "seen"
            slots[1] = None

    _run(opens, looks, logs)


def registration(logs=0):
    """A handler is registered for a moment; who finds it registers another one."""
    handlers = {}

    def opens():
        handlers["first"] = 1
        assert "second" not in handlers
        del handlers["first"]

    def looks():
        if "first" in handlers:
            handlers["second"] = 2
            del handlers["second"]

    _run(opens, looks, logs)


def event(logs=0):
    """An event is set and cleared; who sees it sets another one and clears it."""
    opened, seen = threading.Event(), threading.Event()

    def opens():
        opened.set()
        assert not seen.is_set()
        opened.clear()

    def looks():
        if opened.is_set():
            seen.set()
            seen.clear()

    _run(opens, looks, logs)


def locked(logs=0):
    """Who finds one lock held takes another one."""
    first, second = threading.Lock(), threading.Lock()

    def opens():
        with first:
            assert not second.locked()

    def looks():
        if first.locked():
            with second:
                pass

    _run(opens, looks, logs)


def stray_permit(logs=0):
    """Who finds no permit returns one that it never had: two lead at a time."""
    permits = threading.Semaphore(1)
    s = State()

    def opens():
        with permits:
            s.opened += 1
            assert s.opened == 1
            s.opened -= 1

    def looks():
        if not permits.acquire(blocking=False):
            permits.release()
            permits.acquire()
        s.opened += 1
        s.opened -= 1
        permits.release()

    _run(opens, looks, logs)


def taken_and_returned(logs=0):
    """Who finds the queue empty, since its item is taken for a moment, puts a marker there for a moment."""
    items, markers = Queue(), Queue()
    items.put(1)

    def opens():
        item = items.get()
        assert markers.empty()
        items.put(item)

    def looks():
        try:
            items.put(items.get_nowait())
        except Empty:
            markers.put(1)
            markers.get()

    _run(opens, looks, logs)


def member(logs=0):
    """A name is a member of a set for a moment; who finds it adds another one."""
    names = set()

    def opens():
        names.add("opened")
        assert "seen" not in names
        names.discard("opened")

    def looks():
        if "opened" in names:
            names.add("seen")
            names.discard("seen")

    _run(opens, looks, logs)


def moved(logs=0):
    """An item is between two deques for a moment; who misses it puts a stand-in there for a moment."""
    left, right = deque([1]), deque()

    def opens():
        item = left.pop()
        assert not right
        left.append(item)

    def looks():
        if not left:
            right.append(2)
            right.pop()

    _run(opens, looks, logs)


def transfer(logs=0):
    """Each step of two transfers is under a lock, the transfers are not."""
    lock, s = threading.Lock(), State()

    def opens():
        with lock:
            s.opened = 1
        with lock:
            assert not s.seen
        with lock:
            s.opened = 0

    def looks():
        with lock:
            opened = s.opened
        if opened:
            with lock:
                s.seen = 1
            with lock:
                s.seen = 0

    _run(opens, looks, logs)


ALL = (field, element, registration, event, locked, stray_permit, taken_and_returned, member, moved, transfer)
