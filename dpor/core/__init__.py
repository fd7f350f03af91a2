"""Values and pure functions that all other parts may use: operations, traces, the interface between explorers and
systems, outcomes, schedules, results."""
