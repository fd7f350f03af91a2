"""What this version of Python says."""

from __future__ import annotations

import pytest

with pytest.raises(ZeroDivisionError) as _raised:
    print(1 // 0)
BY_ZERO = str(_raised.value)
"""What is wrong with `1 // 0`."""
