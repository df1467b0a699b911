"""Motions of a kernel against exact solutions in `tests/data/references`: errors and orders of convergence."""

import csv
import math
from pathlib import Path

import numpy as np

REFERENCES = Path(__file__).parents[2] / "data" / "references"


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


def second_order(coarse, fine, least=1.9, most=2.7):
    """Halving the step divides errors by four; a little more while higher terms still show."""
    found = orders(coarse, fine)
    assert all(least < order < most for order in found.values()), found
    return True
