"""Chen and MacDonald's sample: one thread looks at a value twice while another sets it three times.

After Figure 1 of "Incremental testing of concurrent programs using value schedules": which of the four values the first
look finds decides whether there is a second.

Shared      `Shared.value`, with no lock

No bug: nothing is asserted.
"""

import threading

from dpor.workloads import run


class Shared:
    def __init__(self, value):
        self.value = value


def main():
    shared = Shared(10)

    def first():
        if shared.value < 3:
            shared.value  # noqa: B018

    def second():
        shared.value = 1
        shared.value = 3
        shared.value = 4

    run(threading.Thread(target=first), threading.Thread(target=second))
