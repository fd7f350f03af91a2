"""CDx: a radar puts frames of aircraft positions into a ring; a detector takes them out and looks for collisions.

After the benchmark CDx for real-time Java.

Threads     `Simulator` makes `frames` frames; `Detector` works until all are processed or dropped. Main starts both;
            each says that it is ready and waits for the other.
Shared      `FrameBuffer`, on purpose without a lock: `last` is the writer's, `first` the reader's, and a `RawFrame`
            in between is written in place; `Results.processed` (the detector's) and `.dropped` (the simulator's),
            which both read; `Handshake`'s flags under its condition; `Configuration`, written before the threads
            start
Own to one  all that the detector makes of a frame: `Aircraft`, `Position` (written in place), the table of last
            positions, the reducer's boxes
Immutable   `Aircraft.call_sign`, `Motion`, `Collision`, `Configuration`'s flags
Sizes       `frames`, `planes`; `slots` of the ring
bug=True    the simulator moves `last` on before it has filled the frame: the detector can take one that is old or
            half written (a publication that is too early)
"""

import threading

from dpor.workloads import run


class Configuration:
    """Set before the threads start, read for every frame."""

    def __init__(self, frames, planes, slots):
        self.frames = frames
        self.planes = planes
        self.slots = slots
        self.radius = 5
        self.box = 20
        self.report = True


class Handshake:
    def __init__(self):
        self.changed = threading.Condition()
        self.simulator_ready = False
        self.detector_ready = False

    def simulator_is_ready(self):
        with self.changed:
            self.simulator_ready = True
            self.changed.notify_all()
            while not self.detector_ready:
                self.changed.wait()

    def detector_is_ready(self):
        with self.changed:
            self.detector_ready = True
            self.changed.notify_all()
            while not self.simulator_ready:
                self.changed.wait()


# ---------------------------------------------------------------------- the ring


class RawFrame:
    def __init__(self, planes):
        self.count = 0
        self.call_signs = [""] * planes
        self.positions = [0] * (3 * planes)

    def fill(self, call_signs, positions):
        for i, sign in enumerate(call_signs):
            self.call_signs[i] = sign
        for i, value in enumerate(positions):
            self.positions[i] = value
        self.count = len(call_signs)


class FrameBuffer:
    """One writer, one reader: each moves its own end."""

    def __init__(self, slots, planes):
        self.first = 0
        self.last = 0
        self.slots = slots
        self.frames = [RawFrame(planes) for _ in range(slots)]

    def put(self, call_signs, positions):
        """False if there was no room."""
        if (self.last + 1) % self.slots == self.first:
            return False
        self.store(call_signs, positions)
        return True

    def store(self, call_signs, positions):
        self.frames[self.last].fill(call_signs, positions)
        self.last = (self.last + 1) % self.slots

    def get(self):
        """The oldest frame, None if there is none. It stays where it is: the ring is long enough."""
        if self.last == self.first:
            return None
        frame = self.frames[self.first]
        self.first = (self.first + 1) % self.slots
        return frame


class HastyFrameBuffer(FrameBuffer):
    def store(self, call_signs, positions):
        frame = self.frames[self.last]
        self.last = (self.last + 1) % self.slots
        frame.fill(call_signs, positions)


class Results:
    def __init__(self):
        self.processed = 0
        self.dropped = 0
        self.collisions = []


# ---------------------------------------------------------------------- the simulator


class Simulator(threading.Thread):
    def __init__(self, configuration, handshake, buffer, results):
        super().__init__(name="simulator")
        self.configuration = configuration
        self.handshake = handshake
        self.buffer = buffer
        self.results = results

    def run(self):
        self.handshake.simulator_is_ready()
        for time in range(self.configuration.frames):
            call_signs = [f"plane {i}" for i in range(self.configuration.planes)]
            positions = []
            for i in range(self.configuration.planes):
                positions += [10 * time, 30 * i - 10 * i * time, 100]
            if not self.buffer.put(call_signs, positions):
                self.results.dropped += 1


# ---------------------------------------------------------------------- the detector


class Aircraft:
    def __init__(self, call_sign):
        self.call_sign = call_sign


class Position:
    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def set(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def copied(self):
        return Position(self.x, self.y, self.z)


class Motion:
    def __init__(self, aircraft, start, end):
        self.aircraft = aircraft
        self.start = start
        self.end = end

    def boxes(self, side):
        """The squares of the ground that it touches."""
        return {(p.x // side, p.y // side) for p in (self.start, self.end)}

    def meets(self, other, radius):
        return any(
            abs(a.x - b.x) + abs(a.y - b.y) + abs(a.z - b.z) <= 2 * radius
            for a, b in ((self.start, other.start), (self.end, other.end))
        )


class Collision:
    def __init__(self, first, second):
        self.first = first
        self.second = second


class Detector(threading.Thread):
    def __init__(self, configuration, handshake, buffer, results):
        super().__init__(name="detector")
        self.configuration = configuration
        self.handshake = handshake
        self.buffer = buffer
        self.results = results
        self.last_positions = {}

    def run(self):
        self.handshake.detector_is_ready()
        while self.results.processed + self.results.dropped < self.configuration.frames:
            frame = self.buffer.get()
            if frame is not None:
                self.process(frame)

    def process(self, frame):
        assert frame.count == self.configuration.planes, f"a frame with {frame.count} planes"
        motions = [self.motion(frame, i) for i in range(frame.count)]
        found = self.collisions(motions)
        if self.configuration.report:
            self.results.collisions.append([(c.first.call_sign, c.second.call_sign) for c in found])
        self.results.processed += 1

    def motion(self, frame, number):
        aircraft = Aircraft(frame.call_signs[number])
        new = Position(*frame.positions[3 * number : 3 * number + 3])
        known = self.last_positions.get(aircraft.call_sign)
        if known is None:
            self.last_positions[aircraft.call_sign] = known = new.copied()
        start = known.copied()
        known.set(new.x, new.y, new.z)
        return Motion(aircraft, start, new)

    def collisions(self, motions):
        return [
            Collision(first.aircraft, second.aircraft)
            for near in self.reduced(motions)
            for i, first in enumerate(near)
            for second in near[i + 1 :]
            if first.meets(second, self.configuration.radius)
        ]

    def reduced(self, motions):
        """The motions that share a box, for each box with several."""
        in_box = {}
        for motion in motions:
            for box in motion.boxes(self.configuration.box):
                in_box.setdefault(box, []).append(motion)
        return [near for near in in_box.values() if len(near) > 1]


def main(frames=2, planes=2, slots=3, bug=False):
    configuration = Configuration(frames, planes, slots)
    buffer = (HastyFrameBuffer if bug else FrameBuffer)(slots, planes)
    results, handshake = Results(), Handshake()
    run(*[kind(configuration, handshake, buffer, results) for kind in (Simulator, Detector)])
    assert results.processed + results.dropped == frames
    return results.processed, results.dropped, results.collisions
