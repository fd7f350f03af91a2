"""Imported by threads while they run."""

import judged_state

value = 1
loaded = judged_state.hit()
value = 2
