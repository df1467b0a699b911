"""`rigloop model inverse`: the torques of a tree or serial chain, and which of its inertial parameters they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import numpy as np

from codegen.description.mechanism import find
from codegen.serial_chain.chain import PARAMETERS, dynamics, identifiable, torques_at
from codegen.serial_chain.chain_file import Chain, load_chain
from codegen.serial_chain.text import c_text, cost, numpy_text
from rig_configs.bounded import MOST_MECHANISM_BYTES, UnreadableError, parse_toml, read_text
from rig_configs.mistakes import ConfigError, Mistake
from rigloop.model.inverse_facts import Inverse, JointTorque, base_parameters
from rigloop.model.tree_inverse import tree_inverse
from rigloop.model.written import write_files

UNITS = {
    "hinge": ("rad", "rad/s", "rad/s²", "Nm"), "turn": ("rad", "rad/s", "rad/s²", "Nm"),
    "screw": ("rad", "rad/s", "rad/s²", "Nm"), "slide": ("m", "m/s", "m/s²", "N"),
}  # fmt: skip


def inverse(
    file: Path,
    at: Sequence[str],
    *,
    target: Literal["c99", "numpy"] = "c99",
    output: Path | None = None,
) -> Inverse:
    """Make the inverse dynamics of a file; write its source where a folder is given.

    Parameters
    ----------
    file : Path
        A mechanism file, or the name of one that ships; or a chain file, see `docs/models/mechanisms.md`.
    at : sequence of str
        Motion of joints, `joint=angle,rate,acceleration`: of a mechanism by names of joint coordinates, of a chain by
        numbers from 1 on; the others rest.

    Raises
    ------
    ConfigError
        With every mistake of the file or of `at`, or a folder that cannot be written.
    """
    if not _is_chain(file):
        return tree_inverse(find(file), at, target=target, output=output)
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
        written = write_files(files, output)
    least = identifiable(made)
    names = [f"{n + 1}.{p}" for n in range(len(chain.joints)) for p in PARAMETERS]
    return Inverse(
        name=chain.name,
        file=str(file),
        n_joints=len(chain.joints),
        n_parameters=len(made.C),
        mu=tuple(made.mu(chain.p.tolist()).tolist()),
        base=base_parameters(least, chain.p.tolist(), names),
        without_effect=tuple(names[j] for j in least.without_effect),
        operations=asdict(cost(made)),
        joints=tuple(
            JointTorque(joint.kind, float(q), float(qd), float(qdd), torque, UNITS[joint.kind][3])
            for joint, q, qd, qdd, torque in zip(chain.joints, *motion, torques, strict=True)
        ),
        written=tuple(written),
    )


def _is_chain(file: Path) -> bool:
    """Return whether a file has joints in the order of a chain, and no bodies; what cannot be read is refused later."""
    if file.suffix != ".toml" or not file.is_file():
        return file.suffix == ".toml" and len(file.parts) > 1
    try:
        return isinstance(parse_toml(read_text(file, MOST_MECHANISM_BYTES)).get("joints"), list)
    except UnreadableError:
        return True


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
