"""What `run_suite.py` starts is no test of its own."""

collect_ignore = ["one_test.py", "run_suite.py"]
