"""The scale of a drive's torque, as the drive says it itself."""

from __future__ import annotations

from typing import NamedTuple


class OwnScale(NamedTuple):
    """The objects of a drive that scale its torque.

    Attributes
    ----------
    rated_nm : float or None
        0x6076; None: it has no such object, or says nothing with it.
    most_per_mille : int or None
        0x6072, of that.
    """

    rated_nm: float | None
    most_per_mille: int | None

    def most_nm(self, stated_nm: float) -> float | None:
        """Return the most that the drive gives; where it does not say its rated torque, that of the rig counts."""
        if self.most_per_mille is None:
            return None
        return 1e-3 * self.most_per_mille * (self.rated_nm or stated_nm)
