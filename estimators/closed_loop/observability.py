"""Unknown inputs that the sensors make observable: the gate before a virtual force sensor is run.

The states that leave no trace in the readings are the largest subspace V of null(H) that A maps into itself; an
input is observable when none of V has a part in it. That is the test of Popov, Belevitch and Hautus for all s at
once, and for inputs modelled as constants the critical one is s = 0.

Only motions at s = 0 can carry an input, which stays constant: polynomials of time. `undetermined` looks for those that
no reading shows, in one linear problem. To find V itself takes a step for each power of A, which modes of 500 Hz beside
masses of 1000 kg leave nothing of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
SMALL = 1e-9  # of the largest singular value: below, a direction counts as lost
CLEAN = 1e-9  # part of a state in the lost space that is rounding
POWERS = 3  # of time: a constant force moves a free body by the second
SWEEPS = 12
PLACES, SPREAD = 4, 0.2  # states looked at beside the start; rad, m, and per s


class UnobservableError(ValueError):
    """Inputs that the sensors cannot determine; the message names them and the inputs with which they are confused."""


def undetermined(slopes: ArrayLike, readings: ArrayLike, n_inputs: int) -> Array:
    """Return a base of states that polynomial motions begin at and no reading shows, shape (n, n_lost).

    Parameters
    ----------
    slopes : array_like, shape (n_z, n)
        Slopes of the accelerations zdd in x = [z, zd, f].
    readings : array_like, shape (n_y, n)
        Slopes of the readings.
    n_inputs : int
        Number of inputs f.
    """
    a, h = np.asarray(slopes, dtype=float), np.asarray(readings, dtype=float)
    n_z = len(a)
    # time in a unit in which the fastest mode and a free body's acceleration weigh the same
    stiff = float(np.max(np.abs(a[:, :n_z]), initial=0.0))
    unit_s = 1.0 / np.sqrt(stiff) if stiff > 0.0 else 1.0
    k, c, b = a[:, :n_z] * unit_s**2, a[:, n_z : 2 * n_z] * unit_s, a[:, 2 * n_z :]
    at, rate, felt = h[:, :n_z], h[:, n_z : 2 * n_z] / unit_s, h[:, 2 * n_z :] / unit_s**2
    # z = z0 + z1 t + ...: each power of t in zdd = k z + c zd + b f, and in the readings; f in units of its own
    forces = (POWERS + 1) * n_z
    rows = np.vstack([_powers(k, c, b), _powers(at, rate, felt)])
    for p in range(POWERS - 1):
        here, second = slice(p * n_z, (p + 1) * n_z), slice((p + 2) * n_z, (p + 3) * n_z)
        rows[here, second] -= (p + 1) * (p + 2) * np.eye(n_z)
    unit = np.ones(rows.shape[1])
    for _ in range(SWEEPS):  # all rows and columns alike in size, so that no unit decides
        rows /= _sizes(rows, 1)[:, None]
        size = _sizes(rows, 0)
        rows, unit = rows / size, unit / size
    lost = _null(rows)
    lost[np.linalg.norm(lost, axis=1) < CLEAN] = 0.0  # rounding, which a unit could make large
    lost = lost * unit[:, None]
    lost[n_z : 2 * n_z] /= unit_s
    lost[forces:] /= unit_s**2
    return np.vstack([lost[: 2 * n_z], lost[forces:]])


def _powers(by_z: Array, by_rate: Array, by_input: Array) -> Array:
    """Rows of a linear form of z, its rate and the inputs, one group for each power of time."""
    m, n_z = by_z.shape
    found = np.zeros(((POWERS + 1) * m, (POWERS + 1) * n_z + by_input.shape[1]))
    for p in range(POWERS + 1):
        group = slice(p * m, (p + 1) * m)
        found[group, p * n_z : (p + 1) * n_z] = by_z
        if p < POWERS:
            found[group, (p + 1) * n_z : (p + 2) * n_z] = (p + 1) * by_rate
    found[:m, (POWERS + 1) * n_z :] = by_input
    return found


def _sizes(rows: Array, axis: int) -> Array:
    found = np.sqrt(np.max(np.abs(rows), axis=axis))
    return np.where(found > 0.0, found, 1.0)


def require_observable(
    at: Callable[[list[float]], Mapping[str, Any]], info: Mapping[str, Any], start: Sequence[float]
) -> None:
    """Refuse an observer with unknown inputs that its sensors cannot determine, at the start and around it.

    Parameters
    ----------
    at : callable
        `Model.at` of an observer model.
    info : mapping
        `Model.info`.
    start : sequence of float
        State at which the observer begins.

    Raises
    ------
    UnobservableError
        With every such input.
    """
    unknown = info["unknown"]
    if not unknown:
        return
    names = info["state_names"]
    n, n_f = len(names), len(unknown)
    n_z = (n - n_f) // 2
    rng = np.random.default_rng(0)
    seen, lost = np.zeros(n_f, dtype=bool), np.zeros((n, 0))
    for place in range(1 + PLACES):
        # a pose may hide inputs that every other one shows
        x = np.array(start, dtype=float)
        if place:
            x[: 2 * n_z] += SPREAD * rng.uniform(-1.0, 1.0, 2 * n_z)
        found = at(list(x))
        if found["status"] != 0:
            continue
        here = undetermined(found["zdd_x"], np.array(found["y_x"]).reshape(-1, n), n_f)
        seen |= np.all(here[2 * n_z :] == 0.0, axis=1)
        lost = here if place == 0 else lost
    if np.all(seen):
        return
    told = [_reason(unknown[k], 2 * n_z + k, names, lost) for k in range(n_f) if not seen[k]]
    limit = f"{len(info['sensor_names'])} sensors for {n_f} unknown inputs and {n_z} freedoms"
    raise UnobservableError(
        f"observer of {info['name']}: {'; '.join(told)}; there are {limit}: add a sensor that "
        f"responds to it, or estimate fewer inputs"
    )


def _reason(name: str, index: int, names: Sequence[str], lost: Array) -> str:
    if lost.shape[1] == 0:
        return f"{name} cannot be observed away from the start"
    # the lost direction with the largest part in this input
    along = lost @ lost[index]
    along /= np.max(np.abs(along))
    partners = [names[i] for i in np.argsort(-np.abs(along)) if i != index and abs(along[i]) > 1e-3]
    with_ = f" together with {', '.join(partners)}" if partners else ""
    return f"{name} cannot be observed: a change of it{with_} changes no reading"


def _null(matrix: Array) -> Array:
    _, sizes, right = np.linalg.svd(matrix)
    rank = int(np.sum(sizes > SMALL * max(1.0, sizes.max(initial=0.0))))
    return right[rank:].T
