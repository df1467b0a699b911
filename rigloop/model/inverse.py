"""`rigloop model inverse`: the torques of a serial chain, and which of its inertial parameters they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from codegen.serial_chain.chain import PARAMETERS, Least, dynamics, identifiable, torques_at
from codegen.serial_chain.chain_file import Chain, load_chain
from codegen.serial_chain.text import c_text, cost, numpy_text
from rig_configs.mistakes import ConfigError, Mistake

UNITS = {"hinge": ("rad", "rad/s", "rad/s²", "Nm"), "slide": ("m", "m/s", "m/s²", "N")}


class JointTorque(msgspec.Struct, frozen=True):
    """One joint at the given motion; `unit` is of the torque or force."""

    kind: str
    at: float
    rate: float
    acceleration: float
    torque: float
    unit: str


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


def inverse(
    file: Path,
    at: Sequence[str],
    *,
    target: Literal["c99", "numpy"] = "c99",
    output: Path | None = None,
) -> Inverse:
    """Make the inverse dynamics of a chain file; write its source where a folder is given.

    Parameters
    ----------
    file : Path
        A chain file, see `docs/mechanisms.md`.
    at : sequence of str
        Motion of joints, `number=angle,rate,acceleration` with the joints from 1 on; the others rest at 0.

    Raises
    ------
    ConfigError
        With every mistake of the file or of `at`, or a folder that cannot be written.
    """
    chain = load_chain(file)
    motion = _motion(chain, at)
    made = dynamics(chain.joints, chain.gravity_m_s2)
    torques = torques_at(made, made.mu(chain.p.tolist()), *motion)
    written: list[str] = []
    if output is not None:
        files = (
            c_text(made, chain.name)
            if target == "c99"
            else {f"{chain.name}.py": numpy_text(made, chain.name)}
        )
        written = _write(files, output)
    least = identifiable(made)
    names = [f"{n + 1}.{p}" for n in range(len(chain.joints)) for p in PARAMETERS]
    return Inverse(
        name=chain.name,
        file=str(file),
        n_joints=len(chain.joints),
        n_parameters=len(made.C),
        mu=tuple(made.mu(chain.p.tolist()).tolist()),
        base=_base(least, chain, names),
        without_effect=tuple(names[j] for j in least.without_effect),
        operations=asdict(cost(made)),
        joints=tuple(
            JointTorque(joint.kind, float(q), float(qd), float(qdd), torque, UNITS[joint.kind][3])
            for joint, q, qd, qdd, torque in zip(chain.joints, *motion, torques, strict=True)
        ),
        written=tuple(written),
    )


def _motion(chain: Chain, at: Sequence[str]) -> np.ndarray:
    """Return angles, rates and accelerations, shape (3, n)."""
    motion = np.zeros((3, len(chain.joints)))
    mistakes = []
    for words in at:
        joint, _, numbers = words.partition("=")
        try:
            place = int(joint)
            given = [float(number) for number in numbers.split(",")]
            good = (
                1 <= place <= len(chain.joints) and len(given) <= 3 and np.all(np.isfinite(given))
            )
        except ValueError:
            good = False
        if good:
            motion[: len(given), place - 1] = given
        else:
            problem = (
                f"is not joint=angle,rate,acceleration of a joint from 1 to {len(chain.joints)}"
            )
            mistakes.append(Mistake("--at", words, problem, "such as --at 1=0.5,2,0"))
    if mistakes:
        raise ConfigError(mistakes)
    return motion


def _base(least: Least, chain: Chain, names: Sequence[str]) -> tuple[BaseParameter, ...]:
    found = []
    for row, j in enumerate(least.kept):
        value, words = float(chain.p[j]), names[j]
        for column, k in enumerate(least.grouped):
            share = float(least.share[row, column])
            if share:
                value += share * float(chain.p[k])
                size = "" if abs(abs(share) - 1.0) < 1e-12 else f"{abs(share):.6g}·"
                words += f" {'-' if share < 0 else '+'} {size}{names[k]}"
        found.append(BaseParameter(names[j], words, value))
    return tuple(found)


def _write(files: dict[str, str], output: Path) -> list[str]:
    written = []
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (output / name).write_text(text)
            written.append(str(output / name))
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise ConfigError([Mistake(str(output), "--output", problem, "give another")]) from None
    return written
