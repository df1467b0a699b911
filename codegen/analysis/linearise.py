"""A kernel's step as a linear system about one of its states, by central differences through the step itself.

    s+ = A s + B u,   y = C s + D u

u are small changes of the guides (position, rate, acceleration each) and of chosen input signals, y those of outputs,
s coordinates of what the inputs can reach in the kernel's memory: coordinates, rates, accelerations, multipliers and
internal states of forces that a step leaves to the next one. Integrator, projection and held forces are thus part of
it, exactly as the loop has them.

The reachable part is found as a Krylov space: what an impulse of an input leaves, what a step makes of that, and so
on, until nothing new comes. Each direction costs two steps; the steering mechanism of 26 coordinates has 34. Of these
only those are kept that show in an output, now or later, found the same way: eleven.

Source: the block Arnoldi process, Y. Saad, Numerical Methods for Large Eigenvalue Problems, SIAM 2011, chapter 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.analysis.linear_system import Array, LinearSystem
from rt_core.settings import Refusal

# small changes of a guide's position, rate and acceleration: m or rad, per s, per s^2
GUIDE_CHANGES = (1e-6, 1e-4, 1e-2)
SIGNAL_CHANGE = 1e-4  # of an input signal, of its size or of 1
NEW = 1e-5  # part of a direction outside the span of the earlier ones; a smaller part is rounding
SETTLED = 1e-9  # of the largest value in the memory: a change within a second that counts as zero
MOST_DIRECTIONS = 400


@dataclass(frozen=True)
class LinearStep(LinearSystem):
    """A step of a kernel, linearised.

    Attributes
    ----------
    step_s : float
    settled : bool
        Whether the kernel stood still where it was linearised.
    at : ndarray of float64
        Its memory there.
    """

    step_s: float
    settled: bool
    at: Array

    def response(self, frequency_hz: Array) -> NDArray[np.complex128]:
        """Outputs over inputs of slow sines, shape (n_frequencies, p, m); both sampled once a step.

        Parameters
        ----------
        frequency_hz : ndarray of float64, shape (n_frequencies,)
            Below half the step rate.
        """
        return self.transfer(np.exp(2j * np.pi * np.asarray(frequency_hz, float) * self.step_s))


class LinearisationError(Refusal):
    """A mechanism cannot be linearised there; the problem says why."""


def linearise_step(
    module: Any,
    outputs: Sequence[str],
    *,
    guide: Sequence[float] = (),
    parameters: Mapping[str, float] | None = None,
    signals: Sequence[str] = (),
    settle_s: float = 5.0,
) -> LinearStep:
    """Linearise a kernel's step where its guides stand still.

    Parameters
    ----------
    module : module
        A compiled kernel of the class wrapper, in double precision.
    outputs : sequence of str
        Write ports to follow.
    guide : sequence of float, optional
        Position, rate and acceleration of each guide; those of the file at rest if not given.
    parameters : mapping of str to float, optional
        Run-time parameters that are not those of the file.
    signals : sequence of str, optional
        Read ports beside the guides' that are inputs too.
    settle_s : float, optional
        The kernel steps for so long first, or until it stands still.

    Raises
    ------
    LinearisationError
        The kernel cannot be assembled or stepped there.
    """
    info = module.model_info()
    n_guides, step_s = len(info["guides"]), float(info["step_s"])
    kernel = module.Kernel()
    if parameters:
        kernel.parameters = parameters
    rest = np.array(guide if len(guide) else _guides_of_file(info, kernel), float)
    if kernel.reset(*rest) != 0:
        raise LinearisationError(f"it cannot be assembled at its guides {rest.tolist()}")
    if not len(rest) and not signals:
        raise LinearisationError("nothing goes into it: it has no guide, and no signal was named")
    settled = _settle(kernel, rest, round(settle_s / step_s), round(1.0 / step_s))
    at = np.array(kernel.memory)
    inputs = (*module.READ_PORTS[: 3 * n_guides], *signals)
    about = _About(kernel, at, rest, tuple(outputs), tuple(signals), dict(kernel.signals))

    sizes = np.array(
        [*(GUIDE_CHANGES * n_guides)]
        + [SIGNAL_CHANGE * max(1.0, abs(about.signal_values[s])) for s in signals]
    )
    still = np.zeros(len(at))
    pairs = [
        about.change(still, one * size) for one, size in zip(np.eye(len(sizes)), sizes, strict=True)
    ]
    left = np.array([pair[0] for pair in pairs]).T  # of each input's change, not divided yet
    straight = np.array([pair[1] for pair in pairs]).T
    scale = _scale(about, left)
    basis, images, seen = _reachable(about, left, scale)
    a = basis.T @ (images / scale[:, None])
    b = basis.T @ (left / scale[:, None]) / sizes
    a, b, seen = _observable(a, b, seen, sizes)
    return LinearStep(
        a, b, seen, straight / sizes, inputs, tuple(outputs), step_s, settled, at
    )  # fmt: skip


def _guides_of_file(info: Mapping[str, Any], kernel: Any) -> list[float]:
    """Return the positions of the guides in the built pose, at rest."""
    names = [name for name, _ in info["coordinates"]]
    q = kernel.q
    return [
        v
        for guide in info["guides"]
        for v in (q[names.index(guide)] if guide in names else 0.0, 0.0, 0.0)
    ]


def _settle(kernel: Any, rest: Array, most: int, look: int) -> bool:
    """Step with guides at rest until nothing changes any more; whether that came."""
    before = np.array(kernel.memory)
    for done in range(1, most + 1):
        if kernel.step(*rest) != 0:
            raise LinearisationError(
                f"its step {done} with guides at rest has status {kernel.status}"
            )
        if done % max(1, look) == 0:
            now = np.array(kernel.memory)
            if np.max(np.abs(now - before), initial=0.0) <= SETTLED * max(
                1e-6, np.max(np.abs(now), initial=0.0)
            ):
                return True
            before = now
    return False


@dataclass(frozen=True)
class _About:
    """A kernel at one state, and the effect of a step on small changes there."""

    kernel: Any
    at: Array
    rest: Array
    outputs: tuple[str, ...]
    signals: tuple[str, ...]
    signal_values: dict[str, float]

    def change(self, memory: Array, inputs: Array) -> tuple[Array, Array]:
        """Changes of memory and outputs after a step, from those of memory and inputs; central."""
        (up, y_up), (down, y_down) = (self._step(k * memory, k * inputs) for k in (1.0, -1.0))
        return 0.5 * (up - down), 0.5 * (y_up - y_down)

    def _step(self, memory: Array, inputs: Array) -> tuple[Array, Array]:
        kernel, n = self.kernel, len(self.rest)
        kernel.memory = (self.at + memory).tolist()
        if self.signals:
            kernel.signals = {
                port: self.signal_values[port] + float(v)
                for port, v in zip(self.signals, inputs[n:], strict=True)
            }
        if kernel.step(*(self.rest + inputs[:n]).tolist()) != 0:
            raise LinearisationError(f"a step beside it has status {kernel.status}")
        if self.signals:
            kernel.signals = self.signal_values
        shown = kernel.outputs
        return np.array(kernel.memory), np.array([shown[port] for port in self.outputs])


def _observable(a: Array, b: Array, c: Array, sizes: Array) -> tuple[Array, Array, Array]:
    """The same system in the coordinates that show in its outputs."""
    # in units of the response to the inputs' changes, so that small values count as zero
    reach = np.max(np.abs(b * sizes), initial=0.0) or 1.0
    basis: list[Array] = []
    waiting = [row * reach / (np.linalg.norm(row * reach) or 1.0) for row in c]
    while waiting:
        v = waiting.pop(0)
        size = float(np.linalg.norm(v))
        for _ in range(2):
            for w in basis:
                v = v - (w @ v) * w
        left_over = float(np.linalg.norm(v))
        if size == 0.0 or left_over < NEW * max(1.0, size):
            continue
        basis.append(v / left_over)
        waiting.append(a.T @ basis[-1])
    shown = np.array(basis).reshape(-1, len(a)).T
    return shown.T @ a @ shown, shown.T @ b, c @ shown


def _scale(about: _About, left: Array) -> Array:
    """Return the largest motion of each value of the memory in the first steps after small inputs; values that stay
    count for nothing."""
    moved = np.max(np.abs(left), axis=1, initial=0.0)
    still = np.zeros(left.shape[1])
    for column in left.T:
        now = column
        for _ in range(3):
            now = about.change(now, still)[0]
            moved = np.maximum(moved, np.abs(now))
    # of values that only rounding moves, nothing is to be made
    floor = 1e-13 * np.maximum(np.abs(about.at), np.max(moved, initial=0.0) * 1e-3) + 1e-300
    return np.where(moved > floor, moved, np.inf)


def _reachable(about: _About, left: Array, scale: Array) -> tuple[Array, Array, Array]:
    """An orthonormal basis, in scaled memory, of what the inputs reach; what a step makes of each direction, and shows
    of it."""
    still = np.zeros(left.shape[1])
    basis: list[Array] = []
    images: list[Array] = []
    seen: list[Array] = []
    waiting = [column / scale for column in left.T]
    finite = np.isfinite(scale)
    while waiting:
        v = waiting.pop(0)
        size = float(np.linalg.norm(v))
        if size == 0.0:
            continue
        v = v / size
        for _ in range(2):  # twice is enough: rounding of the first pass
            for w in basis:
                v = v - (w @ v) * w
        left_over = float(np.linalg.norm(v))
        if left_over < NEW:
            continue
        if len(basis) == MOST_DIRECTIONS:
            raise LinearisationError(f"its inputs reach more than {MOST_DIRECTIONS} directions")
        v = v / left_over
        basis.append(v)
        image, shown = about.change(np.where(finite, v * np.where(finite, scale, 0.0), 0.0), still)
        images.append(image)
        seen.append(shown)
        waiting.append(image / scale)
    n, p = len(scale), len(about.outputs)
    return (
        np.array(basis).reshape(-1, n).T,
        np.array(images).reshape(-1, n).T,
        np.array(seen).reshape(-1, p).T,
    )
