"""A chain of bodies that bend in Exudyn: its floating frame of reference with modes, of bricks.

The rods are of the size of ours, a row of eight-node bricks each; modes are those of Hurty, Craig and Bampton between
rigid ends, of which the lowest are kept.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np

CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def brick(size: np.ndarray, youngs_pa: float, density: float) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass of a brick, 24 x 24, corner by corner, with two Gauss points along each edge."""
    ratio = 0.3
    shear = youngs_pa / (2.0 * (1.0 + ratio))
    lame = youngs_pa * ratio / ((1.0 + ratio) * (1.0 - 2.0 * ratio))
    law = np.diag([2.0 * shear] * 3 + [shear] * 3)
    law[:3, :3] += lame
    stiffness, mass = np.zeros((24, 24)), np.zeros((24, 24))
    volume = float(np.prod(size)) / 8.0
    for point in CORNERS / np.sqrt(3.0):
        parts = 1.0 + CORNERS * point
        shape = parts.prod(axis=1) / 8.0
        slope = np.array(
            [CORNERS[:, k] * parts[:, (k + 1) % 3] * parts[:, (k + 2) % 3] / 8.0 for k in range(3)]
        ).T * (2.0 / size)
        strain = np.zeros((6, 24))
        for k in range(3):
            strain[k, k::3] = slope[:, k]
        for row, (a, b) in enumerate(((0, 1), (1, 2), (2, 0)), 3):
            strain[row, a::3], strain[row, b::3] = slope[:, b], slope[:, a]
        stiffness += volume * strain.T @ law @ strain
        field = np.kron(shape, np.eye(3))
        mass += volume * density * field.T @ field
    return stiffness, mass


def rod(length_m: float, side_m: float, pieces: int, youngs_pa: float, density: float) -> Any:
    """An interface of Exudyn with the finite-element model of a rod along x."""
    from exudyn.FEM import FEMinterface
    from scipy.sparse import lil_matrix

    size = np.array([length_m / pieces, side_m, side_m])
    places = [
        (k * size[0], y * side_m, z * side_m)
        for k in range(pieces + 1)
        for y in (-0.5, 0.5)
        for z in (-0.5, 0.5)
    ]
    stiffness, mass = brick(size, youngs_pa, density)
    whole = [lil_matrix((3 * len(places), 3 * len(places))) for _ in range(2)]
    for k in range(pieces):
        freedoms = np.arange(12 * k, 12 * k + 24)
        for made, part in zip(whole, (stiffness, mass), strict=True):
            made[np.ix_(freedoms, freedoms)] += part
    fem = FEMinterface()
    fem.nodes = {"Position": np.array(places)}
    fem.elements = [{"Name": "bricks", "Hex8": []}]
    for key, made in zip(("stiffnessMatrix", "massMatrix"), whole, strict=True):
        setattr(fem, key, made.tocsr())
    return fem


def chain(count: int, modes: int, length_m: float, side_m: float) -> tuple[Any, Any]:
    """System and simulation settings of a chain on pins about z."""
    import exudyn as exu
    from exudyn.FEM import HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
    from exudyn.utilities import (
        GenericJoint,
        MarkerBodyRigid,
        MarkerSuperElementRigid,
        ObjectGround,
    )

    container = exu.SystemContainer()
    made = container.AddSystem()
    fem = rod(length_m, side_m, 8, 2.1e11, 7850.0)
    ends = [list(range(4)), list(range(len(fem.nodes["Position"]) - 4, len(fem.nodes["Position"])))]
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=ends,
        nEigenModes=max(0, modes - 6),
        useSparseSolver=False,
        computationMode=HCBstaticModeSelection.RBE2,
    )
    fem.modeBasis["matrix"] = fem.modeBasis["matrix"][:, :modes]
    before = made.AddMarker(
        MarkerBodyRigid(bodyNumber=made.AddObject(ObjectGround()), localPosition=[0, 0, 0])
    )
    weights = [0.25] * 4
    for n in range(count):
        body = ObjectFFRFreducedOrderInterface(fem).AddObjectFFRFreducedOrder(
            made,
            positionRef=[n * length_m, 0, 0],
            initialVelocity=[0, 0, 0],
            initialAngularVelocity=[0, 0, 0],
            gravity=[0, -9.81, 0],
        )
        first, last = (
            made.AddMarker(
                MarkerSuperElementRigid(
                    bodyNumber=body["oFFRFreducedOrder"],
                    meshNodeNumbers=nodes,
                    weightingFactors=weights,
                )
            )
            for nodes in ends
        )
        made.AddObject(
            GenericJoint(markerNumbers=[before, first], constrainedAxes=[1, 1, 1, 1, 1, 0])
        )
        before = last
    made.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    settings.solutionSettings.writeSolutionToFile = False
    settings.timeIntegration.verboseMode = 0
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    return made, settings


def step_us(count: int, modes: int, length_m: float, side_m: float, step_s: float = 1e-3) -> float:
    """Microseconds of an implicit step at 1 ms: the difference of a long and a short run, the least of three."""
    taken = []
    for _ in range(3):
        times = []
        for steps in (20, 220):
            made, settings = chain(count, modes, length_m, side_m)
            settings.timeIntegration.numberOfSteps = steps
            settings.timeIntegration.endTime = steps * step_s
            begun = time.perf_counter()
            made.SolveDynamic(settings)
            times.append(time.perf_counter() - begun)
        (short, long), *_ = pairwise(times)
        taken.append((long - short) / 200 * 1e6)
    return min(taken)
