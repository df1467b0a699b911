"""Mechanisms against exact solutions: errors and orders of convergence of positions, rates and
guide reactions when the step is halved. Sources: tests/data/references/README.md.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

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
    if signal:
        stepper.signals = signal(0.0)
    assert stepper.reset(*guide(0.0)) == 0
    step_s = module.model_info()["step_s"]
    found, violation, steps = dict.fromkeys(watch, 0.0), 0.0, 0
    for k in range(1, last):
        for _ in range(round((times[k] - times[k - 1]) / step_s)):
            steps += 1
            t = steps * step_s
            if signal:
                stepper.signals = signal(t)
            assert stepper.step(*guide(t)) == 0
            violation = max(violation, stepper.residual)
        for column, show in watch.items():
            found[column] = max(found[column], abs(show(stepper) - reference[column][k]))
    return found, violation


def orders(coarse, fine):
    return {column: math.log2(coarse[column] / fine[column]) for column in coarse}


def index(module):
    return {name: i for i, (name, _) in enumerate(module.model_info()["coordinates"])}
