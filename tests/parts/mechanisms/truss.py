"""A truss of bars between point masses as a finite-element model: three freedoms a node, no rotations."""

import itertools

import numpy as np

CELLS = (4, 1, 1)
SIDE_M = 0.1


def truss(stiffness_n=2e6, mass_kg=0.05, cells=CELLS):
    """Arrays of a neutral file."""
    counts = [c + 1 for c in cells]
    places = [np.array(p) * SIDE_M for p in itertools.product(*map(range, counts))]
    n = 3 * len(places)
    stiffness = np.zeros((n, n))
    for a, b in itertools.combinations(range(len(places)), 2):
        along = places[b] - places[a]
        length = np.linalg.norm(along)
        if length < 1.8 * SIDE_M:
            d = along / length
            block = stiffness_n / length * np.outer(d, d)
            for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
                stiffness[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += sign * block
    return {
        "M": mass_kg * np.eye(n),
        "K": stiffness,
        "nodes": np.array(places),
        "freedoms": np.array([(k, d) for k in range(len(places)) for d in range(3)]),
        "names": np.array(["near", "side", "far"]),
        "named": np.array([0, 1, len(places) - 1]),
    }


def plane_truss():
    """The same in the plane of x and y: two freedoms a node."""
    arrays = truss(cells=(4, 1, 0))
    kept = np.flatnonzero(arrays["freedoms"][:, 1] < 2)
    square = np.ix_(kept, kept)
    arrays |= {"M": arrays["M"][square], "K": arrays["K"][square]}
    return arrays | {"freedoms": arrays["freedoms"][kept]}


def gauge(arrays):
    """The strain of the bar between the first two nodes, a row."""
    row = np.zeros(len(arrays["freedoms"]))
    along = arrays["nodes"][1] - arrays["nodes"][0]
    length = np.linalg.norm(along)
    row[3:6], row[0:3] = along / length**2, -along / length**2
    return row
