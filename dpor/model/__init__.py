"""Abstract programs: litmus tests for explorers, in a small JSON format."""
