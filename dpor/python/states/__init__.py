"""The exact state of a Python program in the middle of a run, for searches that match states (see `capture`).

capture    what a search asks for, put together
frames     the frames of threads;  `stacks`: what is where at a position;  `memory`: how it is read
c_frames   values that C code between two Python frames holds
heap       objects, numbered by one traversal;  `plans`, `contents`, `classes`: by their types
canonical_names  names of locations that do not depend on how the state was reached
"""

from dpor.python.states.capture import Capture, key_of

__all__ = ["Capture", "key_of"]
