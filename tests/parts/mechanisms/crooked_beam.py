"""A beam with a corner, of two pieces, with whatever it bears."""

import numpy as np

from codegen.flexible.beam import Section, beam, mesh

BENT = Section(
    mass=2.0,
    axial=1e7,
    bending=(1e3, 2e3),
    torsion=5e2,
    shear=(1e6, 1e6),
    gyration=(0.01, 0.02),
)


def crooked(lumps=(), gauges=None, reference="a"):
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.2], [1.0, 1.0, 1.0]])
    across = []
    for t in np.diff(corners, axis=0):
        side = np.cross([0.0, 0.0, 1.0], t)
        across.append(side / np.linalg.norm(side))
    return beam(
        mesh(corners, [0.0, 0.3, 1.0], 12),
        [BENT, BENT],
        across,
        names={"a": 0.0, "m": 0.3, "b": 1.0},
        lumps=list(lumps),
        gauges=gauges or {},
        reference=reference,
        plane=False,
    )
