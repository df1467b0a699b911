"""The haptic loop in numbers: each part linear and sampled as it is in the rig.

angle theta of the wheel (inertia J, damping b, torque T of the motor, hands k and c)
  J theta'' + (b + c) theta' + k theta = T,      lag T' = T_command - T,      T_command after a dead time
encoder filter       x <- (I - K H) F x + K theta,          each cycle of the fast task, period Te
model                s <- A s + B u,  y = C s + D u,        u of x, each N-th cycle, period Ts = N Te
guard, drive         T_command = sign x gain x y, held from the frame that carries it to the next one
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.analysis.linearise import LinearStep
from estimators.encoder.gains import MODELS, steady_gains, transition_matrix
from rig_configs.schema import Rig
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.compose.parts import drive_of
from rigloop.haptic.gains import at_start
from rigloop.haptic.path import HapticPath

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Wheel:
    """The load of the torque: motor, wheel, hands; dry friction is left out, which only helps."""

    inertia_kg_m2: float
    viscous_nms: float
    torque_lag_s: float
    stiffness_nm_rad: float = 0.0
    damping_nms: float = 0.0

    def without_hands(self) -> Wheel:
        """Return the same, let go."""
        return Wheel(self.inertia_kg_m2, self.viscous_nms, self.torque_lag_s)

    def over(self, time_s: float) -> tuple[Array, Array]:
        """Return what a time makes of (angle, rate, motor torque), and of a command held for it."""
        state = np.zeros((4, 4))
        state[0, 1] = 1.0
        state[1, :3] = (
            -self.stiffness_nm_rad,
            -(self.viscous_nms + self.damping_nms),
            1.0,
        )
        state[1] /= self.inertia_kg_m2
        if self.torque_lag_s > 0.0:
            state[2, 2], state[2, 3] = -1.0 / self.torque_lag_s, 1.0 / self.torque_lag_s
        else:  # the motor has its command at once
            state[1, 2], state[1, 3] = 0.0, 1.0 / self.inertia_kg_m2
        moved = exponential(state * time_s)
        if self.torque_lag_s == 0.0 and time_s > 0.0:
            moved[2, 2], moved[2, 3] = 0.0, 1.0
        return moved[:3, :3], moved[:3, 3]


@dataclass(frozen=True)
class HapticLoop:
    """All that round the wheel, in numbers.

    Attributes
    ----------
    filter_gain : ndarray of float64, shape (n,)
    a, b, c, d : ndarray of float64
        The model's step; one column of `b` and `d` a state of the filter that it takes.
    factor : float
        Of the torque at the motor over the model's: both signs, and the gain.
    delay_s : float
        Dead time of the drive, from the frame on.
    """

    path: HapticPath
    filter_gain: Array
    a: Array
    b: Array
    c: Array
    d: Array
    factor: float
    delay_s: float
    torque_lag_s: float

    @property
    def slow_s(self) -> float:
        """Period of the model."""
        return self.path.fast_s * self.path.every


def make_loop(
    rig: Rig,
    path: HapticPath,
    lin: LinearStep,
    *,
    delay_s: float | None = None,
    gain: float | None = None,
) -> HapticLoop:
    """Return the loop of a rig around its linearised model.

    Parameters
    ----------
    delay_s : float, optional
        Dead time of the drive, in place of the declared one.
    gain : float, optional
        Factor of the gains between model and guard, in place of that at the start.
    """
    encoder, guard, drive = (
        rig.blocks[path.encoder],
        rig.blocks[path.guard],
        drive_of(rig, path.bus, path.drive),
    )
    assert isinstance(encoder, EncoderFilterBlock)
    assert isinstance(guard, GuardBlock)
    n = MODELS[encoder.model]
    filter_gain = steady_gains(path.fast_s, encoder.bandwidth_rad_s, n)
    between = at_start(path.gains) if gain is None else gain
    take = np.zeros((len(lin.inputs), n))
    for column, state in enumerate(path.guide):
        if 0 <= state < n:
            take[column, state] = 1.0
    return HapticLoop(
        path,
        filter_gain,
        lin.a,
        lin.b @ take,
        lin.c,
        lin.d @ take,
        float(encoder.sign * guard.request_sign) * guard.request_gain * between,
        1e-3 * drive.torque_delay_ms if delay_s is None else delay_s,
        0.0 if drive.plant is None else drive.plant.torque_lag_s,
    )


def wheel_of(rig: Rig, path: HapticPath) -> Wheel | None:
    """Return the wheel of a rig with its hands; None where the rig does not say what it is."""
    plant = drive_of(rig, path.bus, path.drive).plant
    if plant is None:
        return None
    hold = plant.hands == "spring"
    return Wheel(
        plant.inertia_kg_m2,
        plant.viscous_nms,
        plant.torque_lag_s,
        plant.hands_stiffness_nm_rad if hold else 0.0,
        plant.hands_damping_nms if hold else 0.0,
    )


def transition(loop: HapticLoop, wheel: Wheel, gain: float = 1.0, extra_s: float = 0.0) -> Array:
    """Return what a period of the model makes of the whole loop's state: its eigenvalues are the loop's modes.

    Parameters
    ----------
    gain : float, optional
        Further factor of the torque.
    extra_s : float, optional
        Further dead time.
    """
    path = loop.path
    te = path.fast_s
    n_filter, n_model = len(loop.filter_gain), len(loop.a)
    whole, part = divmod((loop.delay_s + extra_s) / te + 1e-9, 1.0)
    later, part_s = path.sent - 1 + int(whole), max(0.0, part - 1e-9) * te
    first, push_first = wheel.over(part_s)
    then, push_then = wheel.over(te - part_s)
    keep = np.eye(n_filter)
    keep[:, 0] -= loop.filter_gain
    move = keep @ transition_matrix(te, n_filter)

    # what is under way are torques of whole periods: a state for each, not for each cycle of the fast task, and one
    # for the newest, which is `y`; the eigenvalues left out are zeros
    torques = loop.factor * gain
    cycles = np.arange(later + 2)  # of the fast task, from the newest one backwards
    began = cycles // path.every
    if path.age_out:  # the first cycle of a period still sends what the period before made
        began = began + (cycles % path.every == path.every - 1)
    places = np.searchsorted(began, np.arange(1, began[-1] + 1))

    # columns: one run of the linear loop from each unit state
    sizes = [3, n_filter, n_model, 1, len(places), 1]
    state = np.eye(sum(sizes))
    cuts = np.cumsum(sizes)[:-1]
    wheel_x, x, s, y, older, count = (part.copy() for part in np.split(state, cuts))
    sent = np.vstack([torques * y, older])[began]
    for cycle in range(path.every):
        tick = cycle == 0
        held = y  # what a guard that sees the step a cycle later still has
        if tick and path.age_in:
            y, s = loop.c @ s + loop.d @ x, loop.a @ s + loop.b @ x
        sample = wheel_x[:1]
        x = move @ x + np.outer(loop.filter_gain, count[0] if path.sample else sample[0])
        count = sample
        if tick and not path.age_in:
            y, s = loop.c @ s + loop.d @ x, loop.a @ s + loop.b @ x
        seen = held if tick and path.age_out else y
        wheel_x = first @ wheel_x + np.outer(push_first, sent[later + 1])
        wheel_x = then @ wheel_x + np.outer(push_then, sent[later])
        sent = np.vstack([torques * seen, sent[:-1]])
    return np.vstack([wheel_x, x, s, y, sent[places], count])


def impedance(
    loop: HapticLoop,
    frequency_hz: Array,
    *,
    age_in: float | None = None,
    age_out: float | None = None,
) -> Complex:
    """Return the torque that the guard puts out over the wheel's angle, both sampled by the fast task.

    Parameters
    ----------
    frequency_hz : ndarray of float64
        Well below half of the model's rate, so that images lie beyond what is looked at.
    age_in, age_out : float, optional
        Measured hand-overs in place of the nominal ones, in cycles of the fast task.
    """
    path = loop.path
    w = 2 * np.pi * np.asarray(frequency_hz, float)
    z = np.exp(1j * w * path.fast_s)
    n = len(loop.filter_gain)
    keep = np.eye(n)
    keep[:, 0] -= loop.filter_gain
    back = (keep @ transition_matrix(path.fast_s, n)) / z[:, None, None]
    given = np.broadcast_to(loop.filter_gain, (len(z), n))[..., None]
    x = np.linalg.solve(np.eye(n) - back, given)
    late_in = path.age_in if age_in is None else age_in
    late_out = path.age_out if age_out is None else age_out
    hold = np.mean([z**-k for k in range(path.every)], axis=0)
    late = z ** -(late_in + late_out + path.sample)
    return np.asarray(loop.factor * (model_response(loop, w) @ x)[:, 0, 0] * late * hold)


def model_response(loop: HapticLoop, w: Array) -> Complex:
    """Return the model's step over states of the filter, shape (n_frequencies, 1, n)."""
    z = np.exp(1j * w * loop.slow_s)
    inner = z[:, None, None] * np.eye(len(loop.a)) - loop.a
    return np.asarray(loop.c @ np.linalg.solve(inner, loop.b.astype(complex)) + loop.d)


def undelayed(loop: HapticLoop, frequency_hz: Array) -> Complex:
    """Return the impedance that the model alone has, were angle, rate and acceleration known and the torque there at
    once."""
    w = 2 * np.pi * np.asarray(frequency_hz, float)
    powers = np.array([(1j * w) ** i for i in range(len(loop.filter_gain))]).T
    return np.asarray(loop.factor * np.einsum("fi,fi->f", model_response(loop, w)[:, 0, :], powers))


def torque_path(loop: HapticLoop, frequency_hz: Array) -> Complex:
    """Return the torque at the shaft over the guard's, both as the record of the fast task has them: the guard's goes
    out with the next frame, acts until the one after, and what the drive says of it comes with that."""
    te, lag = loop.path.fast_s, loop.torque_lag_s
    z = np.exp(2j * np.pi * np.asarray(frequency_hz, float) * te)
    whole, part = divmod(loop.delay_s / te + 1e-9, 1.0)
    part = max(0.0, part - 1e-9)
    left = np.exp(-te / lag) if lag > 0.0 else 0.0
    late = np.exp(-te * (1.0 - part) / lag) if lag > 0.0 else 0.0
    acts = (1.0 - late) * z**-1 + (late - left) * z**-2
    return np.asarray(z ** -(loop.path.sent + int(whole)) * acts / (1.0 - left / z))


def exponential(matrix: Array) -> Array:
    """Matrix exponential of a small matrix, by scaling and squaring of its series."""
    norm = float(np.linalg.norm(matrix, 1))
    halvings = max(0, int(np.ceil(np.log2(norm))) + 4) if norm > 0.0 else 0
    scaled = matrix / 2.0**halvings
    total = term = np.eye(len(matrix))
    for k in range(1, 14):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total
