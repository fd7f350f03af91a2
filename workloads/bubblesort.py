"""BubbleSort: threads sort one list, each going through all of it and swapping neighbours.

After the bug benchmark of that name, of those that Huang and Huang use (see `counter`): little code, many reads and
writes.

Shared      the list `Numbers.values`; a comparison and its swap are made under `Numbers.lock`
Sizes       `threads`, each of which goes through the list as often as it must be; `length` of the list
bug=True    a swap is made without the lock: two of them in one place at a time write a number twice, and lose another
"""

import threading

from dpor.workloads import run


class Numbers:
    def __init__(self, values):
        self.lock = threading.Lock()
        self.values = values

    def order(self, i):
        """Swap the neighbours at i and i + 1 if they are in the wrong order."""
        with self.lock:
            self.swap(i)

    def swap(self, i):
        first, second = self.values[i], self.values[i + 1]
        if first > second:
            self.values[i] = second
            self.values[i + 1] = first


class HastyNumbers(Numbers):
    def order(self, i):
        self.swap(i)


def main(threads=2, length=3, bug=False):
    numbers = (HastyNumbers if bug else Numbers)(list(range(length, 0, -1)))

    def sort():
        for end in range(length - 1, 0, -1):
            for i in range(end):
                numbers.order(i)

    run(*[threading.Thread(target=sort, name=f"sorter {i}") for i in range(1, threads + 1)])
    expected = list(range(1, length + 1))
    assert numbers.values == expected, f"the list should be {expected}, but it is {numbers.values}"
