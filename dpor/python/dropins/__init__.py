"""Drop-ins for what a program synchronises with, or what differs from run to run: `threading`, `time`, `random`, ...

One file for each primitive. A drop-in has the real class's signature, errors and repr, and leaves decisions to the pure
rules of `dpor.primitives`. What it does to a synchronisation object is one `perform`, so events can be counted; what it
only looks at is determined by the caller's own past, or is an event too.

While a run is unwound, `perform` may return anything; so drop-ins compare results with `is False`, never by truth.
"""
