"""One thread writes a field that four threads read.

Shared: `Board.text`. No bug. 16 interleaving classes: each reader is before or after the writer.
"""

import threading


class Board:
    def __init__(self):
        self.text = "old"


def main():
    board = Board()
    seen = [None] * 4

    def write():
        board.text = "new"

    def read(number):
        seen[number] = board.text

    threads = [threading.Thread(target=write)]
    threads += [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) <= {"old", "new"}
