"""What threads change of objects beside their values: the order of attributes, and what functions and classes are said
to be. Each returns what main sees when all have ended; the smallest programs that showed a loss."""

import threading

from tests.programs.twins import run


class Object:
    """Nothing."""


class Name(str):
    pass


def order_of_new_attributes():
    shared = Object()

    def first():
        shared.a = 1

    def second():
        shared.b = 2

    run(first, second)
    return tuple(vars(shared))


def order_of_attributes_set_again():
    shared = Object()
    shared.a, shared.b = 1, 2

    def first():
        del shared.a
        shared.a = 1

    def second():
        del shared.b
        shared.b = 2

    run(first, second)
    return tuple(shared.__dict__)


def order_of_globals():
    def first():
        global one
        one = 1

    def second():
        global two
        two = 2

    run(first, second)
    return [name for name in globals() if name in ("one", "two")]


def order_of_class_attributes():
    class Local:
        pass

    def first():
        Local.a = 1

    def second():
        Local.b = 2

    run(first, second)
    return [name for name in vars(Local) if name in ("a", "b")]


def _changed(owner, name, one, other):
    def first():
        setattr(owner, name, one)

    def second():
        setattr(owner, name, other)

    run(first, second)
    return getattr(owner, name)


def function():
    pass


def doc_of_a_function():
    return _changed(function, "__doc__", "a", "b")


def doc_of_a_class():
    return _changed(Object, "__doc__", "a", "b")


def module_of_a_function():
    return _changed(function, "__module__", "a", "b")


def annotations_of_a_function():
    return _changed(function, "__annotations__", {"a": 1}, {"a": 2})


def names_of_a_class_of_the_program():
    function.__name__ = Name("name")
    return _changed(function, "attribute", 1, 2)


def arguments_of_a_thread():
    return _changed(threading.Thread(target=print), "_kwargs", {"x": 1}, {"x": 2})


class Logged(threading.Thread):
    """Its `__setattr__` runs where the threads are started and end."""

    def __setattr__(self, name, value):
        self.__dict__["sets"] = self.__dict__.get("sets", 0) + 1
        super().__setattr__(name, value)


def attributes_set_by_a_method():
    first, second = Logged(target=int), Logged(target=int)
    first.start()
    second.start()
    first.join()
    second.join()
    return first.sets == second.sets


class Own(dict):
    def __iter__(self):
        return iter(["q"])

    def values(self):
        return ["z"]


def attributes_in_a_dict_of_the_program():
    shared = Object()
    shared.__dict__ = Own(x=0)

    def first():
        shared.x = 1

    def second():
        shared.x = 2
        shared.y = 1

    run(first, second)
    return shared.x


def attributes_of_a_lock_in_a_dict_of_the_program():
    lock = threading.Event()
    lock.__dict__ = Own(lock.__dict__)

    def first():
        lock.x = 1

    def second():
        lock.x = 2

    run(first, second)
    return lock.x


def defaults_without_end():
    def body():
        while True:
            function.__defaults__ = (1,)
            function.__defaults__ = (0,)

    run(body, function)


def fields_of_two_objects():
    one, other = Object(), Object()
    one.n = 0

    def first():
        other.__dict__ = one.__dict__
        other.n += 1

    def second():
        one.n += 2

    run(first, second)
    return one.n
