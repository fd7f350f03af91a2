"""Which objects several threads can reach, and the locations and names that they have."""
