"""From a failing run to a finding that explains itself.

minimise     finds a small schedule: fewest context switches, then fewest events, then the smallest choices
explain      makes the failure to report: minimised, its run described, its race marked
racing       tries the races of the failing run in the other order, and selects the two events to mark
whenever     learns which orders of events the failure needs, from schedules that fail and that do not
edges        the happens-before edges between threads that a report draws
data_races   a system whose runs report their data races as findings (`--races`)
"""
