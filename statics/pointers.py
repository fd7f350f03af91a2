"""How exactly objects are distinguished when accesses are compared [PL, section 5.5]."""

from __future__ import annotations

from enum import StrEnum


class Pointers(StrEnum):
    """ci and cs: context insensitive and sensitive; ex and dd: exhaustive and demand-driven."""

    NONE = "none"
    """Not at all: fields alone count."""
    CI_EX = "ci-ex"
    """By the site where they are allocated."""
    CS_EX = "cs-ex"
    """As CI_EX, and containers by the object in whose method they are made."""
    CI_DD = "ci-dd"
    """By the variable through which they are accessed, whose points-to set is looked up when first asked for."""
    CS_DD = "cs-dd"
    """As CI_DD, and a set holds only what comes along calls and the returns that belong to them."""

    @property
    def demand_driven(self) -> bool:
        """True if objects are distinguished by variable."""
        return self in (Pointers.CI_DD, Pointers.CS_DD)
