"""Raytracer: two threads render the rows of a picture, each with a scene of its own; their checksums are added up.

After the benchmark of the Java Grande Forum.

Threads     runner `i` of `n` renders rows i, i + n, ... and keeps a checksum; at the end it adds it to the common one
Shared      `Bench.checksum` under `Bench.lock`: nothing else
Own to one  each runner's `Scene` (`Sphere`, `Light`, `View`, `Surface`), `Ray`, `Intersection` and every `Vector`.
            Main made the runners and reaches them all, so only a look at what two threads really touch tells that
            they are private.
Immutable   `Sphere`, `Light`, `View`, `Surface`, `Rows`. Written in place: `Vector.x/y/z`, `Ray.origin/direction`,
            `Intersection.distance/sphere`, `Runner.checksum`
Sizes       `threads`, `size` (the picture is size x size), `spheres`, `lights`
bug=True    a runner adds its checksum under a lock of its own, which excludes nobody: an addition can get lost. (The
            original does so: it synchronizes on the runner's own scene.) Its barrier is left out: the end of a thread
            orders the rest.
"""

import math
import threading

from dpor.workloads import run


class Vector:
    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x = x
        self.y = y
        self.z = z

    def set(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def copy(self, other):
        self.set(other.x, other.y, other.z)

    def set_difference(self, a, b):
        self.set(a.x - b.x, a.y - b.y, a.z - b.z)

    def add_scaled(self, factor, other):
        self.set(self.x + factor * other.x, self.y + factor * other.y, self.z + factor * other.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def normalize(self):
        length = math.sqrt(self.dot(self))
        if length > 0:
            self.set(self.x / length, self.y / length, self.z / length)


class Ray:
    def __init__(self):
        self.origin = Vector()
        self.direction = Vector()

    def point(self, distance, into):
        into.copy(self.origin)
        into.add_scaled(distance, self.direction)


class Intersection:
    def __init__(self):
        self.distance = math.inf
        self.sphere = None


class Surface:
    def __init__(self, diffuse, shine):
        self.diffuse = diffuse
        self.shine = shine


class Light:
    def __init__(self, place, brightness):
        self.place = place
        self.brightness = brightness


class View:
    def __init__(self, eye, distance):
        self.eye = eye
        self.distance = distance


class Sphere:
    def __init__(self, centre, radius, surface):
        self.centre = centre
        self.radius = radius
        self.surface = surface

    def meet(self, ray, scratch):
        """How far along the ray it is met; infinity if it is not."""
        scratch.set_difference(self.centre, ray.origin)
        along = scratch.dot(ray.direction)
        inside = along * along - scratch.dot(scratch) + self.radius * self.radius
        if inside < 0:
            return math.inf
        distance = along - math.sqrt(inside)
        return distance if distance > 1e-6 else math.inf


class Scene:
    def __init__(self, spheres, lights):
        self.view = View(Vector(0.0, 0.0, -10.0), 5.0)
        self.lights = [Light(Vector(5.0 - 10.0 * i, 5.0, -10.0), 0.8 / (i + 1)) for i in range(lights)]
        self.spheres = [
            Sphere(Vector(1.5 * i - 0.75 * (spheres - 1), 0.0, 0.0), 1.0, Surface(0.7, 15.0 + i))
            for i in range(spheres)
        ]


class Rows:
    """Which rows of the picture a runner renders."""

    def __init__(self, size, first, step):
        self.size = size
        self.first = first
        self.step = step


class Bench:
    def __init__(self):
        self.lock = threading.Lock()
        self.checksum = 0

    def add(self, checksum):
        self.checksum += checksum


class Runner(threading.Thread):
    def __init__(self, number, bench, scene, rows):
        super().__init__(name=f"runner {number}")
        self.bench = bench
        self.scene = scene
        self.rows = rows
        self.lock = bench.lock
        self.ray = Ray()
        self.scratch = Vector()
        self.to_light = Vector()
        self.meeting = Intersection()
        self.checksum = 0

    def run(self):
        self.render()
        with self.lock:
            self.bench.add(self.checksum)

    def render(self):
        size = self.rows.size
        for row in range(self.rows.first, size, self.rows.step):
            for column in range(size):
                self.aim(2.0 * column / size - 1.0, 2.0 * row / size - 1.0)
                self.checksum += int(255 * self.trace())

    def aim(self, x, y):
        view = self.scene.view
        self.ray.origin.copy(view.eye)
        self.ray.direction.set(x, y, view.distance)
        self.ray.direction.normalize()

    def trace(self):
        """The brightness seen along the ray."""
        self.meeting.distance = math.inf
        for sphere in self.scene.spheres:
            distance = sphere.meet(self.ray, self.scratch)
            if distance < self.meeting.distance:
                self.meeting.distance = distance
                self.meeting.sphere = sphere
        return 0.0 if self.meeting.distance == math.inf else self.shade()

    def shade(self):
        point = Vector()
        self.ray.point(self.meeting.distance, point)
        sphere = self.meeting.sphere
        normal = Vector()
        normal.set_difference(point, sphere.centre)
        normal.normalize()
        brightness = 0.0
        for light in self.scene.lights:
            self.to_light.set_difference(light.place, point)
            self.to_light.normalize()
            facing = max(0.0, normal.dot(self.to_light))
            brightness += light.brightness * (sphere.surface.diffuse * facing + facing**sphere.surface.shine)
        return min(1.0, brightness)


class RunnerWithOwnLock(Runner):
    def __init__(self, number, bench, scene, rows):
        super().__init__(number, bench, scene, rows)
        self.lock = threading.Lock()


def main(threads=2, size=2, spheres=1, lights=1, bug=False):
    bench = Bench()
    kind = RunnerWithOwnLock if bug else Runner
    runners = [kind(i, bench, Scene(spheres, lights), Rows(size, i, threads)) for i in range(threads)]
    run(*runners)
    expected = sum(runner.checksum for runner in runners)
    assert bench.checksum == expected, f"the checksum is {bench.checksum}, but the runners' sum is {expected}"
    return bench.checksum
