"""Pure rules of the synchronisation primitives: when is an operation enabled, and what does it change?

One file a primitive. A rule goes from the states of its objects and the caller to an `Effect`; states are immutable,
rules are frozen and compared by value. Both systems (abstract and Python programs) run on them, and explorers ask
them whether an operation could have run at an earlier point. Nothing here knows of real threads.
"""
