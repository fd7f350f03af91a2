"""Airline: agents sell the seats of a plane until it is full.

After the bug benchmark of that name, of those that Huang and Huang use (see `counter`).

Shared      `Flight.sold`, and `Flight.lock`, which an agent holds from looking whether there is a seat until it is sold
Immutable   `Flight.seats`, `Agent.flight`
Sizes       `agents`, who try to sell one ticket each; `seats`
bug=True    an agent looks without the lock and sells with it: more tickets than seats (check-then-act)
"""

import threading

from dpor.workloads import run


class Flight:
    def __init__(self, seats):
        self.lock = threading.Lock()
        self.seats = seats
        self.sold = 0

    def is_full(self):
        return self.sold == self.seats

    def sell(self):
        self.sold += 1


class Agent(threading.Thread):
    def __init__(self, number, flight):
        super().__init__(name=f"agent {number}")
        self.flight = flight

    def run(self):
        with self.flight.lock:
            if not self.flight.is_full():
                self.flight.sell()


class HastyAgent(Agent):
    def run(self):
        if not self.flight.is_full():
            with self.flight.lock:
                self.flight.sell()


def main(agents=3, seats=2, bug=False):
    flight = Flight(seats)
    run(*[(HastyAgent if bug else Agent)(i, flight) for i in range(1, agents + 1)])
    assert flight.sold <= seats, f"{flight.sold} tickets are sold for {seats} seats"
    return flight.sold
