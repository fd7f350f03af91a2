"""The objects that several threads can reach, with the locations and names that they have."""
