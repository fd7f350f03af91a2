"""What a user starts: checks, replays, comparisons, analyses, the doctor."""
