"""The torque limit of a run on an interface whose rig nobody has signed off."""

from __future__ import annotations

import msgspec


class Limited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The guards of a run whose torque is limited, and the reasons."""

    limits_nm: dict[str, float]
    """By guard, in place of its `limit_nm`."""
    why: tuple[str, ...]
    percent: float
    """Share of the rig's own limits."""
    remedy: str = ""

    def brief(self) -> str:
        """Return it in a few words, for a live table."""
        return f"torque limited to {self.percent:g} %: not commissioned"

    def line(self) -> str:
        """Return it as one sentence."""
        limits = ", ".join(f"{guard} {limit:.3g} Nm" for guard, limit in self.limits_nm.items())
        said = f"torque limited to {self.percent:g} % ({limits}): {'; '.join(self.why)}"
        return f"{said}; {self.remedy}" if self.remedy else said


def limited_line(limited: Limited | None) -> str:
    """Return the sentence of a limit; empty where there is none."""
    return "" if limited is None else limited.line()
