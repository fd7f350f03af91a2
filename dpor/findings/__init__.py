"""From a failing run to a finding that explains itself.

minimise     a small schedule: fewest context switches, then fewest events, then the smallest choices
explain      the failure to report: minimised, its run described, its race marked
racing       races of the failing run, each tried in the other order; the two events to mark
whenever     the orders of events that a failure needs, learnt from schedules that fail and that do not
edges        the happens-before edges between threads that a report draws
data_races   a system whose runs report their data races as findings (`--races`)
"""
