"""The searches, one algorithm a file. They know a `System` and its traces; they know nothing of Python threads."""
