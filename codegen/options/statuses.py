"""Meanings of the status of a kernel's or an observer's step; the numbers are the ones of `targets/types.h.in`."""

from __future__ import annotations

STATUSES = {
    1: "a guide or an input is not a finite number",
    2: "the mechanism could not be assembled where its guide has gone",
    3: "the step did not converge: a constraint is still violated",
    4: "a result is not a finite number",
    5: "the equations are singular: the mechanism has lost a constraint or a freedom",
}
"""Status of a step in words; 0 is good."""

NAMES = ("input_not_finite", "not_assembled", "not_converged", "not_finite", "singular")
"""One word for each, from 1 on; 0 is "good"."""
