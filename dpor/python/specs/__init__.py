"""Specifications: what is to hold between the events of a run (invariants, linearizability)."""
