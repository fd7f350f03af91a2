"""Gives the lower layers of a run what they need of the higher ones (`dpor.python.kernel.above.Above`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from dpor.python import effects
from dpor.python.dropins import mixins, modules, stdlib, threads, weak_proxies
from dpor.python.effects import key_order, letting_go
from dpor.python.hooks import attributes, calls, special
from dpor.python.hooks.calls.calling import note_field_store
from dpor.python.sharing import shared_objects
from dpor.python.specs import histories
from dpor.python.states import spinning, stacks


class Layers:
    """Implements `Above` with functions of the higher layers.

    is_program_file    True for paths of the program's own source
    can_instrument     True for packages that are not instrumented, but could be
    lacks_hooks        True for modules in Python that are not instrumented
    imports_in_steps   True for modules that threads execute when they import them
    """

    def __init__(
        self,
        is_program_file: Callable[[str], bool],
        can_instrument: Callable[[str], bool],
        lacks_hooks: Callable[[str], bool],
        imports_in_steps: Callable[[str], bool],
    ) -> None:
        self.is_program_file: Final = is_program_file
        self.can_instrument: Final = can_instrument
        self.lacks_hooks: Final = lacks_hooks
        self.imports_in_steps: Final = imports_in_steps

    publish_roots = staticmethod(shared_objects.publish_roots)
    alone = staticmethod(letting_go.alone)
    is_to_be_watched = staticmethod(letting_go.is_to_be_watched)
    may_have_looked = staticmethod(key_order.give_up)
    step_begins = staticmethod(letting_go.step_begins)
    step_ends = staticmethod(letting_go.step_ends)
    run_over = staticmethod(letting_go.run_over)
    unjoined_threads = staticmethod(threads.unjoined)
    recorded_calls = staticmethod(histories.held)
    back_edge_taken = staticmethod(spinning.back_edge_taken)
    loops_without_operations = staticmethod(spinning.loops_without_operations)
    loops_unseen = staticmethod(spinning.loops_unseen)
    call = staticmethod(calls.call)
    mixin = staticmethod(mixins.instrumented)
    lookup_target = staticmethod(effects.lookup_target)
    read_operation = staticmethod(attributes.read_operation)
    cleans_up = staticmethod(stacks.cleans_up)
    load_special = staticmethod(special.load_special)
    replacement_for = staticmethod(partial(modules.replacement_for, stdlib.module_for_program))
    weak_proxy = staticmethod(weak_proxies.weak_proxy)
    store_special = staticmethod(special.store_special)
    note_field_store = staticmethod(note_field_store)
