"""Observer models of the shipped mechanisms; built once, then cached."""

import pytest

from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions

STEP_S = 5e-3
FOUR_BAR = ObserverSpec(
    {
        "angle": {"kind": "encoder", "angle": "crank"},
        "rate": {"kind": "gyroscope", "points": ["A", "B"]},
        "felt": {"kind": "accelerometer", "point": "B", "axis": [0, 1, 0]},
        "tension": {"kind": "force_cell", "of": "constant_distance.coupler.force_n"},
    },
    ("crank",),
)


@pytest.fixture(scope="session")
def four_bar_spec():
    return FOUR_BAR


@pytest.fixture(scope="session")
def four_bar():
    return build_observer("four_bar", FOUR_BAR, KernelOptions(step_s=STEP_S))
