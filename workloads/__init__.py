"""Plain threaded programs to compare searches on. Standard library only; each has a `main` without arguments."""
