"""The folder that this package is in: how frames and files of ours are told from the program's."""

from __future__ import annotations

import os
from typing import Final

HOME: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS: Final = HOME + os.sep
"""What the paths of all our files begin with."""
