"""Describes a run in words: repeats its events, names the program's objects, and shows the values that were read and
written."""
