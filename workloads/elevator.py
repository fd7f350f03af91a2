"""Elevator: lifts in a house, each a thread, and people who press buttons meanwhile.

After the benchmark of that name (von Praun and Gross). People call a lift from floor 1 up to 3, then from floor 4 down
to 2.

Threads     the `Lift`s, `operations` steps each; `People`, who press the buttons while they move
Shared      `Floor`: for each direction a list of people's destinations (replaced, not emptied) and a flag, "a lift is
            coming", every access under the floor's lock. To claim a floor is to look (lock), then to look again and
            set the flag (lock).
Own to one  `Lift`'s fields: written by main in the constructor, then by the lift's thread only
Immutable   `Controls.floors`, `Lift.controls`, `Lift.top`
Sizes       `lifts`, `operations` of each, `calls` of people; the paper's configuration is 2, 4 and 2
bug=True    the second look sees the flag only, as in the original: another lift may have come and gone in between,
            and one comes for nobody (check-then-act)
"""

import threading
from enum import Enum

from dpor.workloads import run

TOP = 4
BUTTONS = ((1, 3), (4, 2))
"""On which floor, where to."""


class Direction(Enum):
    IDLE = 0
    UP = 1
    DOWN = -1


class Queue:
    """Who waits on a floor for one direction."""

    def __init__(self):
        self.people = []
        self.claimed = False


class Floor:
    def __init__(self):
        self.lock = threading.Lock()
        self.up = Queue()
        self.down = Queue()

    def queue(self, direction):
        return self.up if direction is Direction.UP else self.down


class Controls:
    def __init__(self):
        self.floors = [Floor() for _ in range(TOP + 1)]

    def push(self, floor, destination):
        direction = Direction.UP if destination > floor else Direction.DOWN
        with self.floors[floor].lock:
            queue = self.floors[floor].queue(direction)
            queue.people.append(destination)
            if len(queue.people) == 1:
                queue.claimed = False

    def is_wanted(self, floor, direction):
        with self.floors[floor].lock:
            queue = self.floors[floor].queue(direction)
            return bool(queue.people) and not queue.claimed

    def claim(self, floor, direction):
        if not self.is_wanted(floor, direction):
            return False
        with self.floors[floor].lock:
            return self.mark(self.floors[floor].queue(direction))

    def mark(self, queue):
        if queue.claimed or not queue.people:
            return False
        queue.claimed = True
        return True

    def take_people(self, floor, direction):
        """Those for whom the floor was claimed."""
        with self.floors[floor].lock:
            queue = self.floors[floor].queue(direction)
            people = queue.people
            queue.people = []
            queue.claimed = False
        assert people, f"a lift came to floor {floor} for nobody"
        return people


class HastyControls(Controls):
    def mark(self, queue):
        if queue.claimed:
            return False
        queue.claimed = True
        return True


class Lift(threading.Thread):
    def __init__(self, number, controls, operations):
        super().__init__(name=f"lift {number}")
        self.controls = controls
        self.operations = operations
        self.top = TOP
        self.floor = 1
        self.direction = Direction.IDLE
        self.people_for = [0] * (TOP + 1)
        self.pick_up_on = [None] * (TOP + 1)
        self.delivered = 0

    def run(self):
        for _ in range(self.operations):
            if self.direction is Direction.IDLE:
                self.look_for_work()
            else:
                self.move()

    def look_for_work(self):
        for direction in (Direction.UP, Direction.DOWN):
            if self.controls.claim(self.floor, direction):
                self.direction = direction
                self.pick_up(direction)
                return
        for floor in range(1, self.top + 1):
            for direction in (Direction.UP, Direction.DOWN):
                if floor != self.floor and self.controls.claim(floor, direction):
                    self.pick_up_on[floor] = direction
                    self.direction = Direction.UP if floor > self.floor else Direction.DOWN
                    return

    def pick_up(self, direction):
        for destination in self.controls.take_people(self.floor, direction):
            self.people_for[destination] += 1

    def move(self):
        self.floor += self.direction.value
        if self.floor in (1, self.top):
            self.direction = Direction.DOWN if self.floor == self.top else Direction.UP
        self.delivered += self.people_for[self.floor]
        self.people_for[self.floor] = 0
        claimed = self.pick_up_on[self.floor]
        if claimed is not None:
            self.pick_up_on[self.floor] = None
            self.pick_up(claimed)
        elif self.controls.claim(self.floor, self.direction):
            self.pick_up(self.direction)
        self.direction = self.next_direction()

    def next_direction(self):
        above = any(self.is_needed(floor) for floor in range(self.floor + 1, self.top + 1))
        below = any(self.is_needed(floor) for floor in range(1, self.floor))
        if self.direction is Direction.UP and above:
            return Direction.UP
        if self.direction is Direction.DOWN and below:
            return Direction.DOWN
        return Direction.UP if above else Direction.DOWN if below else Direction.IDLE

    def is_needed(self, floor):
        return self.people_for[floor] > 0 or self.pick_up_on[floor] is not None


class People(threading.Thread):
    """Press the buttons."""

    def __init__(self, controls, calls):
        super().__init__(name="people")
        self.controls = controls
        self.calls = calls

    def run(self):
        for floor, destination in BUTTONS[: self.calls]:
            self.controls.push(floor, destination)


def main(lifts=2, operations=1, calls=1, bug=False):
    controls = HastyControls() if bug else Controls()
    moving = [Lift(i, controls, operations) for i in range(1, lifts + 1)]
    run(*moving, People(controls, calls))
    return [(lift.floor, lift.direction.name, lift.delivered) for lift in moving]
