"""Python programs as a system: instrumented source, greenlets for threads, drop-ins for the threading modules."""
