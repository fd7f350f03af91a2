"""Python programs as a system: instrumented source, greenlets for threads, stand-ins for the threading modules."""
