"""Plain threaded programs to compare searches on, one a module, each with a `main`: `dpor workloads` lists them.

Standard library only. A module's docstring says what its threads share, what the parameters of `main` are and what
`bug=True` breaks.
"""


def run(*threads):
    """Start them in this order and wait for all."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
