"""`threading.local`."""

from __future__ import annotations

import threading as real
from typing import Any, ClassVar

import pytest

from tests.under_control import once, outcomes, stdlib

threading: Any = stdlib.module_for_program("threading")


def in_thread(module: Any, body: Any) -> Any:
    answers: list[Any] = []
    worker = module.Thread(target=lambda: answers.append(body()))
    worker.start()
    worker.join()
    return answers[0]


def test_each_thread_has_attributes_of_its_own() -> None:
    def used(module: Any) -> Any:
        data = module.local()
        data.x = 1

        def inside() -> Any:
            seen = [hasattr(data, "x"), dict(data.__dict__)]
            data.x, data.y = 2, 3
            del data.y
            return [*seen, data.x, sorted(data.__dict__)]

        return [in_thread(module, inside), data.x, data.__dict__]

    assert once(lambda: used(threading)) == used(real)


def test_a_subclass_is_initialised_in_each_thread() -> None:
    def used(module: Any) -> Any:
        class Mine(module.local):  # type: ignore[misc]
            shared: ClassVar[list[int]] = []

            def __init__(self, value: int, *, other: int = 0) -> None:
                self.shared.append(value)
                self.value, self.other = value, other

            def double(self) -> int:
                return self.value * 2

            @property
            def both(self) -> tuple[int, int]:
                return self.value, self.other

        data = Mine(3, other=4)
        data.value = 5
        return [in_thread(module, lambda: (data.value, data.double(), data.both)), data.both, Mine.shared]

    assert once(lambda: used(threading)) == used(real)


def test_slots_of_a_subclass_are_shared() -> None:
    def used(module: Any) -> Any:
        Mine = type("Mine", (module.local,), {"__slots__": ("common",)})
        data = Mine()
        data.common = 1
        in_thread(module, lambda: setattr(data, "common", 2))
        return data.common

    assert once(lambda: used(threading)) == used(real) == 2


def test_arguments_need_an_init() -> None:
    def refused() -> Any:
        with pytest.raises(TypeError, match="Initialization arguments are not supported"):
            threading.local(1)
        return "refused"

    assert once(refused) == "refused"


def test_the_dictionary_cannot_be_replaced() -> None:
    def refused(module: Any) -> Any:
        data, texts = module.local(), []
        for change in (lambda: setattr(data, "__dict__", {}), lambda: delattr(data, "__dict__")):
            with pytest.raises(AttributeError) as error:
                change()
            texts.append(str(error.value).replace("_thread._local", "local").replace("'local'", "local"))
        return texts

    assert once(lambda: refused(threading)) == refused(real)


def test_switches_inside_keep_threads_apart() -> None:
    def program() -> Any:
        data, lock, seen = threading.local(), threading.Lock(), []

        def work(number: int) -> None:
            data.number = number
            with lock:
                pass
            seen.append(data.number == number)

        workers = [threading.Thread(target=work, args=(n,)) for n in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return all(seen)

    assert outcomes(program) == {True}


def test_nothing_is_left_in_the_next_run() -> None:
    data = once(threading.local)

    def program() -> Any:
        before = hasattr(data, "x")
        data.x = 1
        return before

    assert once(program) is False
    assert once(program) is False
