"""One run under control: who runs now, how a thread waits before an operation, time, loops, what the search assumes."""
