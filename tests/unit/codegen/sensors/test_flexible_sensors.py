"""Sensors on bodies that bend, against the modes that they move with."""

import numpy as np
import pytest
from mechanisms.flexible_mechanisms import free_shaft
from mechanisms.flexible_poses import moved, rotation

from codegen.description.mechanism import MechanismError
from codegen.expressions.dag import evaluate
from codegen.sensors import read

SENSORS = {
    "strain": {"kind": "strain_gauge", "body": "shaft", "gauge": "bow"},
    "turn": {"kind": "gyroscope", "body": "shaft_tip", "axis": [0.0, 0.6, 0.8]},
    "own": {"kind": "gyroscope", "body": "shaft_tip", "axis": "shaft_tip_y"},
    "frame": {"kind": "gyroscope", "body": "shaft", "axis": [1.0, 0.0, 0.0]},
    "felt": {"kind": "accelerometer", "point": "shaft_tip", "axis": "shaft_tip_z"},
}


@pytest.fixture(scope="module")
def shaft():
    mechanism = free_shaft(modes=4).build()
    return mechanism.system, {s.name: s for s in read(mechanism, SENSORS)}


def test_a_gauge_reads_the_strain_of_its_modes(shaft):
    system, sensors = shaft
    amplitudes = np.array([1e-3, -2e-3, 5e-4, 1e-3])
    at = {c.q.name: a for c, a in zip(system.flexible["shaft"].amplitudes, amplitudes, strict=True)}
    row = system.flexible["shaft"].modes.gauges["bow"]
    assert evaluate(sensors["strain"].reading, at) == pytest.approx(row @ amplitudes, rel=1e-9)
    assert sensors["strain"].unit == "1"


def test_a_gyroscope_on_a_node_turns_with_frame_and_modes(shaft):
    system, sensors = shaft
    rng = np.random.default_rng(3)
    turn, spin, rates = rotation(rng), rng.normal(size=3), rng.normal(size=4)
    # without deflection the node's directions are the frame's, and their rates exact
    at, axes, _ = moved(system, rng, turn, spin, rng.normal(size=3), np.zeros(4), rates)
    node = system.flexible["shaft"].modes.nodes["tip"]
    rate = spin + axes @ (node.shape[3:] @ rates)
    for name, axis, of in (
        ("turn", np.array([0.0, 0.6, 0.8]), rate),
        ("own", turn @ np.array([0.0, 1.0, 0.0]), rate),
        ("frame", np.array([1.0, 0.0, 0.0]), spin),
    ):
        assert evaluate(sensors[name].reading, at) == pytest.approx(of @ axis, abs=1e-9)


def test_an_accelerometer_on_a_node_feels_its_modes_and_gravity(shaft):
    system, sensors = shaft
    rng = np.random.default_rng(4)
    turn = rotation(rng)
    at, axes, _ = moved(system, rng, turn, np.zeros(3), np.zeros(3), np.zeros(4), np.zeros(4))
    pushed, shaken = rng.normal(size=3), rng.normal(size=4)
    # from rest accelerations lie as rates do
    rates, _, _ = moved(system, rng, turn, np.zeros(3), pushed, np.zeros(4), shaken)
    at |= {f"qdd {c.index}": rates[c.qd.name] for c in system.coordinates if c.qd.name in rates}
    at |= {f"qdd {c.index}": 0.0 for c in system.coordinates if f"qdd {c.index}" not in at}
    at |= {x: 0.0 for c in system.coordinates for x in (c.q.name, c.qd.name) if x not in at}
    node = system.flexible["shaft"].modes.nodes["tip"]
    felt = pushed + axes @ (node.shape[:3] @ shaken) - np.array([0.0, 0.0, -9.81])
    axis = turn @ np.array([0.0, 0.0, 1.0])
    assert evaluate(sensors["felt"].reading, at) == pytest.approx(felt @ axis, abs=1e-9)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"kind": "strain_gauge", "body": "shaft", "gauge": "bog"}, "is no gauge of shaft"),
        ({"kind": "strain_gauge", "body": "shift", "gauge": "bow"}, "is no body that bends"),
        ({"kind": "gyroscope", "body": "shaft", "angle": "a"}, "give one of `angle`, `points` and `body`"),
    ],
)  # fmt: skip
def test_mistakes_name_what_is_there(table, words):
    with pytest.raises(MechanismError, match=words):
        read(free_shaft(modes=2).build(), {"x": table})
