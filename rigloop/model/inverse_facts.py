"""The findings of `rigloop model inverse`, as plain data: for tables, and for `--json`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codegen.serial_chain.chain import Least


class JointTorque(msgspec.Struct, frozen=True):
    """One joint at the given motion; `unit` is of the torque or force."""

    kind: str
    at: float
    rate: float
    acceleration: float
    torque: float
    unit: str
    name: str = ""
    """Name of its coordinate in a tree; none in a chain, whose joints count from 1."""


class BaseParameter(msgspec.Struct, frozen=True):
    """A combination of inertial parameters that torques determine: its own, and those grouped with it."""

    name: str
    words: str
    value: float


class Inverse(msgspec.Struct, frozen=True):
    """The findings that `rigloop model inverse --json` prints."""

    name: str
    file: str
    n_joints: int
    n_parameters: int
    mu: tuple[float, ...]
    base: tuple[BaseParameter, ...]
    without_effect: tuple[str, ...]
    operations: dict[str, float]
    joints: tuple[JointTorque, ...]
    written: tuple[str, ...]


def base_parameters(
    least: Least, p: Sequence[float], names: Sequence[str]
) -> tuple[BaseParameter, ...]:
    """The parameters that are kept, each with those that are grouped with it."""
    found = []
    for row, j in enumerate(least.kept):
        value, words = float(p[j]), names[j]
        for column, k in enumerate(least.grouped):
            share = float(least.share[row, column])
            if share:
                value += share * float(p[k])
                size = "" if abs(abs(share) - 1.0) < 1e-12 else f"{abs(share):.6g}·"
                words += f" {'-' if share < 0 else '+'} {size}{names[k]}"
        found.append(BaseParameter(names[j], words, value))
    return tuple(found)
