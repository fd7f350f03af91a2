"""Counter: one thread adds to a number and another subtracts from it, so many times each.

After the introduction of Huang and Huang, "Speeding up maximal causality reduction with static dependency analysis",
who count executions for 5 rounds.

Shared      `Shared.value`, read and written with no lock
Sizes       `rounds` of each thread

No bug: nothing is asserted. What is left in the end depends on which updates get lost.
"""

import threading

from dpor.workloads import run


class Shared:
    def __init__(self):
        self.value = 0


def main(rounds=2):
    shared = Shared()

    def change(by):
        for _ in range(rounds):
            shared.value = shared.value + by

    run(threading.Thread(target=change, args=(1,)), threading.Thread(target=change, args=(-1,)))
    return shared.value
