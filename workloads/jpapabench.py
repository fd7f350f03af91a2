"""jPapaBench: the autopilot of an unmanned plane, with a simulator: many periodic threads, hardly a lock.

After the Java version of PapaBench. A task runs its handler a number of times; time is not modelled.

Threads     autopilot: `Navigation`, `AltitudeControl`, `ClimbControl`, `Stabilization`; simulator: `FlightModel`,
            `Gps`, `Infrared`
Shared      without any lock, by design: `Status` (the modes and the commands), `Estimator` and `Flight` (vectors that
            are made once and written in place), `Navigator`, `GpsDevice`, `InfraredDevice`; and `SpiBus`, the queue
            of messages to the servos: all its methods are synchronized
Own to one  `Pid` controllers (of one handler each); a `Message` until it is sent: the bus carries a copy
Immutable   every reference from part to part, `Message`, `Waypoint`
Sizes       `tasks`: how many of the seven, in an order in which each few make sense; `periods`: how often each runs
bug=True    the flight model asks whether the bus is empty, then takes a message: the stabilization may replace an old
            message in between, and there is none (check-then-act)
"""

import threading

from dpor.workloads import run

# ---------------------------------------------------------------------- what tasks share


class Vector:
    def __init__(self, x=0, y=0, z=0):
        self.x = x
        self.y = y
        self.z = z

    def copy(self, other):
        self.x = other.x
        self.y = other.y
        self.z = other.z


class Status:
    """The autopilot's modes and what it commands."""

    def __init__(self):
        self.lateral_mode = "manual"
        self.vertical_mode = "auto altitude"
        self.roll = 0
        self.pitch = 0
        self.climb = 0
        self.gaz = 0
        self.aileron = 0
        self.elevator = 0


class Estimator:
    """What the plane believes of itself."""

    def __init__(self):
        self.position = Vector()
        self.speed = Vector()
        self.attitude = Vector()
        self.flight_time = 0


class Waypoint:
    def __init__(self, x, y, altitude):
        self.x = x
        self.y = y
        self.altitude = altitude


class Navigator:
    def __init__(self):
        self.plan = [Waypoint(10, 0, 100), Waypoint(0, 10, 120)]
        self.next = 0
        self.desired_course = 0
        self.desired_altitude = 100


class GpsDevice:
    def __init__(self):
        self.position = Vector()
        self.course = 0


class InfraredDevice:
    def __init__(self):
        self.roll = 0
        self.pitch = 0


class Flight:
    """What is true of the plane: the simulator's state."""

    def __init__(self):
        self.position = Vector(0, 0, 90)
        self.speed = Vector(1, 0, 0)
        self.attitude = Vector()


class Message:
    def __init__(self, aileron, elevator, gaz):
        self.aileron = aileron
        self.elevator = elevator
        self.gaz = gaz


class SpiBus:
    """A queue for few messages; the newest counts."""

    CAPACITY = 1

    def __init__(self):
        self.lock = threading.Lock()
        self.messages = [Message(0, 0, 0)]

    def is_empty(self):
        with self.lock:
            return not self.messages

    def poll(self):
        with self.lock:
            return self.messages.pop(0) if self.messages else None

    def is_full(self):
        with self.lock:
            return len(self.messages) == self.CAPACITY

    def add(self, message):
        with self.lock:
            self.messages.append(Message(message.aileron, message.elevator, message.gaz))


class Plane:
    """All of it; the references are set once."""

    def __init__(self):
        self.status = Status()
        self.estimator = Estimator()
        self.navigator = Navigator()
        self.gps = GpsDevice()
        self.infrared = InfraredDevice()
        self.flight = Flight()
        self.bus = SpiBus()


# ---------------------------------------------------------------------- the tasks


class Task(threading.Thread):
    """Runs its handler once a period."""

    def __init__(self, plane, periods):
        super().__init__(name=type(self).__name__)
        self.plane = plane
        self.periods = periods

    def run(self):
        for _ in range(self.periods):
            self.handle()

    def handle(self):
        raise NotImplementedError


class Pid:
    def __init__(self, gain, limit):
        self.gain = gain
        self.limit = limit
        self.sum = 0

    def correct(self, error):
        self.sum = self.sum + error
        return max(-self.limit, min(self.limit, self.gain * error + self.sum // 8))


class Navigation(Task):
    def handle(self):
        estimator, navigator, gps = self.plane.estimator, self.plane.navigator, self.plane.gps
        estimator.flight_time += 1
        estimator.position.copy(gps.position)
        self.plane.status.lateral_mode = "auto"
        waypoint = navigator.plan[navigator.next]
        navigator.desired_altitude = waypoint.altitude
        navigator.desired_course = waypoint.x - waypoint.y
        if estimator.position.x >= waypoint.x:
            navigator.next = (navigator.next + 1) % len(navigator.plan)
        self.plane.status.roll = max(-20, min(20, navigator.desired_course - gps.course))


class AltitudeControl(Task):
    def __init__(self, plane, periods):
        super().__init__(plane, periods)
        self.pid = Pid(gain=1, limit=10)

    def handle(self):
        status = self.plane.status
        if status.vertical_mode == "auto altitude":
            error = self.plane.navigator.desired_altitude - self.plane.estimator.position.z
            status.climb = self.pid.correct(error)


class ClimbControl(Task):
    def __init__(self, plane, periods):
        super().__init__(plane, periods)
        self.pid = Pid(gain=2, limit=50)

    def handle(self):
        status = self.plane.status
        if status.vertical_mode == "auto altitude":
            error = status.climb - self.plane.estimator.speed.z
            status.gaz = self.pid.correct(error)
            status.pitch = error // 2


class Stabilization(Task):
    def __init__(self, plane, periods):
        super().__init__(plane, periods)
        self.roll = Pid(gain=1, limit=30)
        self.pitch = Pid(gain=1, limit=30)

    def handle(self):
        plane, status, attitude = self.plane, self.plane.status, self.plane.estimator.attitude
        attitude.x = plane.infrared.roll
        attitude.y = plane.infrared.pitch
        status.aileron = self.roll.correct(status.roll - attitude.x)
        status.elevator = self.pitch.correct(status.pitch - attitude.y)
        message = Message(status.aileron, status.elevator, status.gaz)
        if plane.bus.is_full():
            plane.bus.poll()
        plane.bus.add(message)


class FlightModel(Task):
    """Its first step stands for the fly-by-wire module, which is left out: the servos follow the newest message."""

    def handle(self):
        message = self.receive()
        if message is not None:
            self.follow(message)
        flight = self.plane.flight
        flight.position.x += flight.speed.x
        flight.position.y += flight.speed.y
        flight.position.z += flight.speed.z

    def receive(self):
        return self.plane.bus.poll()

    def follow(self, message):
        flight = self.plane.flight
        flight.attitude.x += message.aileron
        flight.attitude.y += message.elevator
        flight.speed.z = message.gaz // 10


class HastyFlightModel(FlightModel):
    def receive(self):
        if self.plane.bus.is_empty():
            return None
        message = self.plane.bus.poll()
        assert message is not None, "the bus was not empty, but there is no message"
        return message


class Gps(Task):
    def handle(self):
        gps, flight = self.plane.gps, self.plane.flight
        gps.position.copy(flight.position)
        gps.course = flight.attitude.x


class Infrared(Task):
    def handle(self):
        infrared, attitude = self.plane.infrared, self.plane.flight.attitude
        infrared.roll = attitude.x
        infrared.pitch = attitude.y


def main(tasks=3, periods=1, bug=False):
    plane = Plane()
    flight_model = HastyFlightModel if bug else FlightModel
    kinds = (Stabilization, flight_model, ClimbControl, Infrared, Gps, Navigation, AltitudeControl)
    run(*[kind(plane, periods) for kind in kinds[:tasks]])
    return plane.status.aileron, plane.status.elevator, plane.flight.position.z
