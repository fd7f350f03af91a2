"""The pytest plugin: tests marked `interleave` are run under every thread interleaving. See docs/pytest.md."""
