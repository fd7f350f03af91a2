"""What a user starts: checks, replays, comparisons, analyses, the doctor; `cli` has one file for each command."""
