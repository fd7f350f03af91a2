"""A Python program as a system: loads the target and its modules, runs it, and knows facts about its source."""
