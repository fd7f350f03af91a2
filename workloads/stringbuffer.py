"""StringBuffer: one buffer is appended to another while another thread empties it.

After a defect of the Java library's class of that name, of the bug benchmarks that Huang and Huang use (see `counter`).

Shared      `StringBuffer.characters` of the buffer that is appended, under that buffer's lock
Sizes       `length` of that buffer
bug=True    all methods are synchronized, but appending asks for the other's length, then copies so many of its
            characters: it can be shorter by then (atomicity violation; in Java, an index out of bounds)
"""

import threading

from dpor.workloads import run


class StringBuffer:
    def __init__(self, text=""):
        self.lock = threading.RLock()
        self.characters = list(text)

    def length(self):
        with self.lock:
            return len(self.characters)

    def copy(self, count):
        """The first characters. Raises `IndexError` if there are not so many."""
        with self.lock:
            if count > len(self.characters):
                raise IndexError(f"{count} characters of {len(self.characters)}")
            return self.characters[:count]

    def delete(self):
        with self.lock:
            self.characters.clear()

    def append(self, other):
        with self.lock, other.lock:
            self.characters.extend(other.copy(other.length()))

    def text(self):
        with self.lock:
            return "".join(self.characters)


class HastyStringBuffer(StringBuffer):
    def append(self, other):
        with self.lock:
            self.characters.extend(other.copy(other.length()))


def main(length=3, bug=False):
    whole, part = (HastyStringBuffer if bug else StringBuffer)(), StringBuffer("x" * length)
    run(
        threading.Thread(target=whole.append, args=(part,), name="who appends"),
        threading.Thread(target=part.delete, name="who deletes"),
    )
    return whole.text()
