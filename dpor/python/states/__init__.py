"""The exact state of a Python program in the middle of a run, for searches that match states (see `capture`).

capture    answers what a search asks, from the parts below
frames     the frames of threads;  `stacks`: which slots hold what at a position;  `memory`: reads them
c_frames   values that C code between two Python frames holds
heap       objects, numbered by one traversal;  `plans`, `contents`, `c_objects`, `classes`: encoders, by type
canonical_names  names of locations that do not depend on how the state was reached
spinning   loops that wait by spinning;  `choices`: where Java Pathfinder makes a choice;  `clocks`: virtual time
"""

from dpor.python.states.capture import Capture, key_of

__all__ = ["Capture", "key_of"]
