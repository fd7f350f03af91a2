"""What instrumented code calls: attributes, operators, callees (`calls`), and the rare routes to all of these."""
