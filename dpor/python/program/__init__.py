"""A Python program as a system: loading the target and its modules, running it, what is known of its source."""
