"""Values and pure functions that every part may use: operations, traces, the seam, outcomes, schedules, results."""
