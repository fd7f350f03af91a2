"""Describes a run in words: its events repeated, names for the program's objects, and the values that were read and
written."""
