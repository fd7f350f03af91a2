"""The command line: one file for each command; `main` puts them together."""
