"""`rigloop model inverse` of a mechanism that is a tree: forces of its joints at a motion, and its base parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

import numpy as np

from codegen.analysis.inverse import TreeInverse, c_sources, inverse_dynamics, numpy_source
from codegen.description.mechanism import load
from codegen.expressions.emit import NUMPY
from codegen.serial_chain.chain import Least
from rig_configs.mistakes import ConfigError, Mistake, near
from rigloop.model.inverse_facts import BaseParameter, Inverse, JointTorque, base_parameters
from rigloop.model.written import write_files

MOST_LINKS = 16  # with more, base parameters take minutes to find
INDEPENDENT = 1e-9  # of a column of the regressor beside what the others leave of it


def tree_inverse(
    path: Path, at: Sequence[str], *, target: Literal["c99", "numpy"], output: Path | None
) -> Inverse:
    """Inverse dynamics of a mechanism file; see `rigloop.model.inverse`.

    Raises
    ------
    ConfigError
        With every mistake of the file or of `at`, or a folder that cannot be written.
    """
    mechanism = load(path)
    made = inverse_dynamics(mechanism)
    motion = _motion(made, at)
    found = made.at(*motion)
    written: list[str] = []
    if output is not None:
        files = {f"{mechanism.name}.py": numpy_source(made, mechanism.name)}
        written = write_files(c_sources(made, mechanism.name) if target == "c99" else files, output)
    base: tuple[BaseParameter, ...] = ()
    without: tuple[str, ...] = ()
    if len(made.p) <= 10 * MOST_LINKS:
        least = _least(made)
        base = base_parameters(least, made.p.tolist(), made.names)
        without = tuple(made.names[j] for j in least.without_effect)
    joints = []
    for force, value in zip(made.forces, found, strict=True):
        i = force.coordinate
        q, qd, qdd = (0.0, 0.0, 0.0) if i is None else (float(row[i]) for row in motion)
        joints.append(JointTorque(force.kind, q, qd, qdd, float(value), force.unit, force.name))
    return Inverse(
        name=mechanism.name,
        file=str(path),
        n_joints=len(made.forces),
        n_parameters=len(made.p),
        mu=tuple(made.p.tolist()),
        base=base,
        without_effect=without,
        operations=asdict(made.lines(NUMPY)[1]),
        joints=tuple(joints),
        written=tuple(written),
    )


def _motion(made: TreeInverse, at: Sequence[str]) -> np.ndarray:
    """Return coordinates, rates and accelerations, shape (3, n); what is not given rests as in the file."""
    coordinates = made.tree.made.system.coordinates
    places = {c.name: c.index for c in coordinates}
    motion = np.zeros((3, len(coordinates)))
    motion[0] = [c.initial for c in coordinates]
    mistakes = []
    for words in at:
        joint, _, numbers = words.partition("=")
        place = places.get(joint)
        try:
            given = [float(number) for number in numbers.split(",")]
            good = len(given) <= 3 and bool(np.all(np.isfinite(given)))
        except ValueError:
            good = False
        if place is None:
            problem = f"{joint!r} is not a joint coordinate"
            mistakes.append(Mistake("--at", words, problem, near(joint, list(places))))
        elif not good:
            problem = "is not joint=angle,rate,acceleration"
            mistakes.append(Mistake("--at", words, problem, f"such as --at {joint}=0.5,2,0"))
        else:
            motion[: len(given), place] = given
    if mistakes:
        raise ConfigError(mistakes)
    return motion


def _least(made: TreeInverse) -> Least:
    """Parameters that the forces show, from forces at motions of every kind."""
    rng = np.random.default_rng(0)
    motion = made.tree.motion
    n, n_p = len(motion.start), len(made.p)
    rows = []
    for seed in range(3 + n_p // max(1, len(made.forces))):
        q, qd, qdd = motion.somewhere(seed), rng.normal(size=n), rng.normal(size=n)
        for link in motion.tree.links:
            if link.kind in ("ball", "free"):
                last = list(link.coordinates[-4:])
                qd[last] -= q[last] * (q[last] @ qd[last])
        none = made.at(q, qd, qdd, np.zeros(n_p))
        rows.append(np.array([made.at(q, qd, qdd, unit) - none for unit in np.eye(n_p)]).T)
    whole = np.vstack(rows)
    size = np.linalg.norm(whole, axis=0)
    largest = size.max(initial=0.0)
    active = [j for j in range(n_p) if size[j] > 1e-12 * largest]
    # outer links first, masses last: moments of other links can replace them
    active.sort(key=lambda j: (j % 10 == 9, -(j // 10), j))
    kept: list[int] = []
    basis = np.zeros((len(whole), 0))
    for j in active:
        column = whole[:, j] / size[j]
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > INDEPENDENT:
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
            kept.append(j)
    kept.sort()
    grouped = sorted(set(active) - set(kept))
    share = np.linalg.lstsq(whole[:, kept], whole[:, grouped], rcond=None)[0]
    share = np.where(np.abs(share) < 1e-9, 0.0, share)
    share = np.where(np.abs(share - np.round(share)) < 1e-9, np.round(share), share)
    idle = tuple(j for j in range(n_p) if j not in active)
    return Least(tuple(kept), tuple(grouped), idle, share)
