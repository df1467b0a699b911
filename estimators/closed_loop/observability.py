"""Unknown inputs that the sensors make observable: the gate before a virtual force sensor is run.

The states that leave no trace in the readings are the largest subspace V of null(H) that A maps into itself; an
input is observable when none of V has a part in it. That is the test of Popov, Belevitch and Hautus for all s at
once, and for inputs modelled as constants the critical one is s = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
SMALL = 1e-9  # of the largest singular value: below, a direction counts as lost
PLACES, SPREAD = 4, 0.2  # states looked at beside the start; rad, m, and per s


class UnobservableError(ValueError):
    """Inputs that the sensors cannot determine; the message names them and the inputs with which they are confused."""


def unobservable_states(transition: ArrayLike, slopes: ArrayLike) -> Array:
    """Orthonormal base of the states that no reading shows, shape (n, n_lost).

    Parameters
    ----------
    transition : array_like, shape (n, n)
        A of xdot = A x, or F of a step.
    slopes : array_like, shape (n_y, n)
        H of y = H x.
    """
    a, h = np.asarray(transition, dtype=float), np.asarray(slopes, dtype=float)
    # readings of any unit weigh the same
    size = np.linalg.norm(h, axis=1)
    h = h[size > 0.0] / size[size > 0.0, None]
    lost = _null(h) if len(h) else np.eye(len(a))
    while lost.shape[1]:
        # the part of these that stays among them
        leaves = a @ lost
        leaves -= lost @ (lost.T @ leaves)
        scale = max(1.0, float(np.linalg.norm(a, 2)))
        kept = _null(leaves / scale)
        if kept.shape[1] == lost.shape[1]:
            break
        lost = np.linalg.qr(lost @ kept)[0]
    return lost


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
        a = np.zeros((n, n))
        a[:n_z, n_z : 2 * n_z] = np.eye(n_z)
        a[n_z : 2 * n_z] = found["zdd_x"]
        here = unobservable_states(a, np.array(found["y_x"]).reshape(-1, n))
        seen |= np.linalg.norm(here[2 * n_z :], axis=1) < 1e-6
        lost = here if place == 0 else lost
    if np.all(seen):
        return
    told = [_reason(unknown[k], 2 * n_z + k, names, lost) for k in range(n_f) if not seen[k]]
    limit = f"{len(info['sensor_names'])} sensors for {n_f} unknown inputs and {n_z} freedoms"
    raise UnobservableError(
        f"observer of {info['name']}: {'; '.join(told)}; there are {limit}: add a sensor that feels "
        f"it, or estimate fewer inputs"
    )


def _reason(name: str, index: int, names: Sequence[str], lost: Array) -> str:
    if lost.shape[1] == 0:
        return f"{name} cannot be observed away from the start"
    # the lost direction with the largest part in this input
    along = lost @ lost[index]
    along /= np.max(np.abs(along))
    partners = [names[i] for i in np.argsort(-np.abs(along)) if i != index and abs(along[i]) > 1e-3]
    with_ = f" together with {', '.join(partners)}" if partners else ""
    return f"{name} cannot be observed: a change of it{with_} leaves every reading as it is"


def _null(matrix: Array) -> Array:
    _, sizes, right = np.linalg.svd(matrix)
    rank = int(np.sum(sizes > SMALL * max(1.0, sizes.max(initial=0.0))))
    return right[rank:].T
