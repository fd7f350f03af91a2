"""The state of the run: nothing of it is left in the next one."""

from dpor.core.system import STOP, Trace
from dpor.python.kernel.options import RuntimeOptions
from dpor.python.kernel.run import CurrentRun


class _Seen:
    __slots__ = ("places",)

    def __init__(self) -> None:
        self.places: list[int] = []


def test_what_modules_attach_is_as_at_first_in_each_run() -> None:
    run = CurrentRun()
    seen = run.attach(_Seen)
    seen.places.append(1)
    run.begin(RuntimeOptions(), Trace(), lambda enabled: STOP, None)
    assert seen.places == []
