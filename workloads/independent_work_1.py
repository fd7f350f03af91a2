"""Independent Work 1: each thread makes a linked list of its own and goes through it.

After Dwyer, Hatcliff, Robby and Ranganath, "Exploiting object escape and locking information in partial-order
reductions for concurrent object-oriented programs": no object is ever reached by two threads, so two states are enough.

Shared      nothing
Sizes       `threads`, `length` of each list

No bug.
"""

import threading


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


def main(threads=2, length=5):
    for _ in range(threads):
        BuildsAndWalks(length).start()
