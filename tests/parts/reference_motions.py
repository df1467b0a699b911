"""Exact motions of tests/data/references, the inputs that belong to them, and errors against them."""

import csv
import math
from pathlib import Path

import numpy as np

from codegen.description.builder import MechanismBuilder

REFERENCES = Path(__file__).parents[1] / "data" / "references"


def exact(name):
    with (REFERENCES / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def errors(module, reference, watch, guide=None, signal=None, seconds=None):
    """Largest error of each watched quantity, watch[column] = function of the stepper, and the
    largest constraint violation.
    """
    guide = guide or (lambda t: ())
    times = reference["t"]
    last = len(times) if seconds is None else np.searchsorted(times, seconds + 1e-9)
    stepper = module.Kernel()

    def feed(t):
        if signal and hasattr(stepper, "signals"):
            stepper.signals = signal(t)
        elif signal:  # the NumPy twin takes the values alone
            stepper.signal = np.array(list(signal(t).values()))

    feed(0.0)
    assert stepper.reset(*guide(0.0)) == 0
    step_s = module.model_info()["step_s"]
    found, violation, steps = dict.fromkeys(watch, 0.0), 0.0, 0
    for k in range(1, last):
        for _ in range(round((times[k] - times[k - 1]) / step_s)):
            steps += 1
            t = steps * step_s
            feed(t)
            assert stepper.step(*guide(t)) == 0
            violation = max(violation, stepper.residual)
        for column, show in watch.items():
            found[column] = max(found[column], abs(show(stepper) - reference[column][k]))
    return found, violation


def orders(coarse, fine):
    return {column: math.log2(coarse[column] / fine[column]) for column in coarse}


def index(module):
    return {name: i for i, (name, _) in enumerate(module.model_info()["coordinates"])}


def four_bar(count):
    """`count` four-bars in a row, written in Python."""
    made = MechanismBuilder(f"four_bar_{count}", gravity_m_s2=(0, -9.81, 0))
    for i in range(count + 1):
        made.point(f"B{i}", position_m=(i, 1, 0), velocity_m_s=(1, 0, 0), moves="xy")
        made.constant_distance(f"crank_{i}", points=[(i, 0, 0), f"B{i}"])
        made.uniform_rod(f"crank_{i}", points=[(i, 0, 0), f"B{i}"], mass_kg=1.0)
        if i:
            ends = [f"B{i - 1}", f"B{i}"]
            made.constant_distance(f"coupler_{i}", points=ends)
            made.uniform_rod(f"coupler_{i}", points=ends, mass_kg=1.0)
    made.angle("theta", initial_rad="pi / 2", initial_rate_rad_s=-1.0)
    made.rotation(
        "crank", angle="theta", point="B0", centre_m=(0, 0, 0), axis=(0, 0, 1), zero=(1, 0, 0)
    )
    return made.output("crank/angle_rad", "theta").output("energy/total_j", "energy")


def coordinates(module, **columns):
    """Watch coordinates by column name; a leading `d_` means the rate."""
    at = index(module)
    return {
        column: (
            (lambda s, i=at[name[2:]]: s.qd[i])
            if name.startswith("d_")
            else (lambda s, i=at[name]: s.q[i])
        )
        for column, name in columns.items()
    }


def second_order(coarse, fine, least=1.9, most=2.7):
    """Halving the step divides errors by four; a little more while higher terms still show."""
    found = orders(coarse, fine)
    assert all(least < order < most for order in found.values()), found
    return True


def crank_guide(t):
    turn = 4.0 * math.pi
    angle = math.pi / 4 + 6 * math.pi * t + 0.5 * math.sin(turn * t)
    rate = 6 * math.pi + 0.5 * turn * math.cos(turn * t)
    return angle, rate, -0.5 * turn**2 * math.sin(turn * t), 0.0, 0.0, 0.0


STEERING = {
    "phi2": "shaft", "phi3": "pinion", "delta_L": "delta_left", "delta_R": "delta_right",
    "phi3_dot": "d_pinion", "delta_L_dot": "d_delta_left", "y_rack": "rack",
}  # fmt: skip


def wheel_guide(t):
    rate, swing = 0.4 * math.pi, math.pi / 2
    s, c = math.sin(rate * t), math.cos(rate * t)
    return swing * s, swing * rate * c, -swing * rate**2 * s


def driver_torque(t):
    return {"input/force/driver/torque_nm": 6.0 * math.sin(math.pi * t)}
