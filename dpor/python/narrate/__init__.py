"""A run in words: its events repeated, what the program calls its objects, and the values that were there."""
