"""Readers Writers: a policy says who may read or write now; writers that wait come first.

After Dwyer, Hatcliff, Robby and Ranganath (see `independent_work_1`).

Shared      `Policy`'s three counts, under its monitor; `Data.value`, as the policy allows
Immutable   `Reader.policy` and `.data`, `Writer.policy` and `.data`
Sizes       `readers`, `writers`, who read and write once
bug=True    a writer does not wait for another: one of two updates can get lost
"""

import threading

from dpor.workloads import run


class Data:
    def __init__(self):
        self.value = 0


class Policy:
    def __init__(self):
        self.monitor = threading.Condition()
        self.readers = 0
        self.writers = 0
        self.waiting = 0

    def start_read(self):
        with self.monitor:
            while self.writers > 0 or self.waiting > 0:
                self.monitor.wait()
            self.readers += 1

    def end_read(self):
        with self.monitor:
            self.readers -= 1
            if self.readers == 0:
                self.monitor.notify_all()

    def start_write(self):
        with self.monitor:
            self.waiting += 1
            while self.must_wait():
                self.monitor.wait()
            self.waiting -= 1
            self.writers += 1

    def must_wait(self):
        return self.readers > 0 or self.writers > 0

    def end_write(self):
        with self.monitor:
            self.writers -= 1
            self.monitor.notify_all()


class HastyPolicy(Policy):
    def must_wait(self):
        return self.readers > 0


class Reader(threading.Thread):
    def __init__(self, policy, data):
        super().__init__()
        self.policy = policy
        self.data = data
        self.seen = None

    def run(self):
        self.policy.start_read()
        self.seen = self.data.value
        self.policy.end_read()


class Writer(threading.Thread):
    def __init__(self, policy, data):
        super().__init__()
        self.policy = policy
        self.data = data

    def run(self):
        self.policy.start_write()
        self.data.value += 1
        self.policy.end_write()


def main(readers=2, writers=2, bug=False):
    policy, data = HastyPolicy() if bug else Policy(), Data()
    readings = [Reader(policy, data) for _ in range(readers)]
    run(*readings, *[Writer(policy, data) for _ in range(writers)])
    assert data.value == writers, f"{writers} writers added 1, but the value is {data.value}"
    return [reader.seen for reader in readings]
