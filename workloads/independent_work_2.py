"""Independent Work 2: each thread goes through a linked list that was made for it.

After the same paper as `independent_work_1`: main makes each list, hands it over and forgets it. That no object is
reached by two threads can be seen while the program runs, and hardly in its source.

Shared      nothing, once the thread runs
Sizes       `threads`, `length` of each list

No bug.
"""

import threading

from dpor.workloads.independent_work_1 import linked, walk


class Walks(threading.Thread):
    def __init__(self, length):
        super().__init__()
        self.head = linked(length)

    def run(self):
        walk(self.head)


def main(threads=2, length=5):
    for _ in range(threads):
        Walks(length).start()
