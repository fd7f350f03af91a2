"""Rules of the synchronisation primitives: when each operation is enabled, and what it changes. They are pure
functions.

There is one file for each primitive. A rule maps the states of its objects and the caller to an `Effect`; states are
immutable, rules are frozen and compared by value. Both systems (abstract and Python programs) use them, and explorers
ask them whether an operation could have run at an earlier point. Real threads are not used here.
"""
