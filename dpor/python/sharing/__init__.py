"""Which objects several threads can reach, and their locations and names."""
