"""Drop-ins for what a program synchronises with, or that differs from run to run: `threading`, `time`, `random`, ...

One file a primitive, each a thin drop-in: the real class's signature, errors and repr over the pure rules of
`dpor.primitives`. What a drop-in does to a synchronisation object is one `perform`, so events can be counted;
what it only looks at is determined by the caller's own past, or is an event too.

While a run is unwound `perform` answers None: fronts therefore compare results with `is False`, never by truth.
"""
