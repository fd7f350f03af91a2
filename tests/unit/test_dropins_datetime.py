"""`datetime`: the present is virtual, the objects are real."""

from __future__ import annotations

import datetime as real
import pickle
from typing import Any

from tests.under_control import once, stdlib

datetime: Any = stdlib.module_for_program("datetime")
time: Any = stdlib.module_for_program("time")


def test_the_present_is_that_of_the_virtual_clock() -> None:
    def program() -> Any:
        first = datetime.datetime.now(datetime.timezone.utc)
        time.sleep(90)
        later = datetime.datetime.utcnow()
        return [first.isoformat(), later.isoformat(), datetime.date.today() == datetime.datetime.today().date()]

    assert once(program) == ["2023-11-14T22:13:20+00:00", "2023-11-14T22:14:50", True]


def test_objects_are_of_the_real_classes_and_those_are_ours() -> None:
    made = [
        datetime.datetime(2024, 2, 29, 12, fold=1),
        datetime.datetime.strptime("2024", "%Y"),
        datetime.datetime.fromisoformat("2024-02-29"),
        datetime.datetime.combine(datetime.date(2024, 2, 29), datetime.time()),
        once(datetime.datetime.now),
    ]
    assert {type(d) for d in made} == {real.datetime}
    assert type(datetime.date(2024, 1, 1)) is real.date
    assert isinstance(made[0], datetime.datetime)
    assert isinstance(made[0], datetime.date)
    assert not isinstance(datetime.date(2024, 1, 1), datetime.datetime)
    assert issubclass(datetime.datetime, datetime.date)
    assert pickle.loads(pickle.dumps(made[0])) == made[0]
    assert datetime.timedelta is real.timedelta


def test_a_class_that_a_program_derives_is_as_usual() -> None:
    class Mine(datetime.datetime):  # type: ignore[misc]
        pass

    mine = Mine(2024, 1, 2)
    assert type(mine) is Mine
    assert isinstance(mine, datetime.datetime)
    assert not isinstance(real.datetime(2024, 1, 2), Mine)
    assert type(once(Mine.now)) is Mine
