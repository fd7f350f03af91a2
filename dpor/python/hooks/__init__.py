"""What instrumented code calls: hooks for attributes, operators, callees (`calls`), and rare routes to all of these."""
