"""Specifications that must hold between the events of a run: invariants, linearizability."""
