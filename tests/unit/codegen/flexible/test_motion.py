"""Flexible bodies in natural coordinates: kinetic energy and momentum against the points of the mass."""

import numpy as np
import pytest
from mechanisms.flexible_mechanisms import free_shaft, spin_up
from mechanisms.flexible_poses import moved, rotation

from codegen.elements.bodies import flexible_body
from codegen.expressions.dag import evaluate
from codegen.flexible.reduced import reduced


def test_kinetic_energy_is_that_of_the_points_of_the_mass_for_any_motion(monkeypatch):
    seen = []

    def watched(structure, modes):
        seen.append(structure)
        return reduced(structure, modes)

    monkeypatch.setattr(flexible_body, "reduced", watched)
    mechanism = free_shaft(modes=5, gravity=None).build()
    (structure,) = seen
    system = mechanism.system
    body = system.flexible["shaft"]
    rng = np.random.default_rng(7)
    turn, spin, velocity = rotation(rng), rng.normal(size=3), rng.normal(size=3)
    amplitudes, rates = 0.3 * rng.normal(size=5), rng.normal(size=5)  # no small ones
    at, axes, axis_rates = moved(system, rng, turn, spin, velocity, amplitudes, rates)
    # without the vectors of foreshortening
    short = [c for c in system.coordinates if "short" in c.name]
    at |= {c.q.name: 0.0 for c in short} | {c.qd.name: 0.0 for c in short}
    energy = sum(
        (0.5 if i == j else 1.0)
        * entry.value
        * at[system.coordinates[i].qd.name]
        * at[system.coordinates[j].qd.name]
        for (i, j), entry in system.mass.items()
    )
    shapes = body.modes.moved
    place = structure.mass_points + body.shift + shapes @ amplitudes
    speeds = velocity + place @ axis_rates.T + (shapes @ rates) @ axes.T
    exact = 0.5 * structure.weights @ np.sum(speeds**2, axis=1)
    assert energy == pytest.approx(exact, rel=1e-9)


def test_rows_of_the_products_hold_for_any_motion():
    system = free_shaft(modes=5).build().system
    rng = np.random.default_rng(8)
    at, _, _ = moved(
        system, rng, rotation(rng), rng.normal(size=3), rng.normal(size=3), rng.normal(size=5), rng.normal(size=5)
    )  # fmt: skip
    of_products = [row for row in system.rows if "along" in row.label]
    assert len(of_products) > 20
    assert max(abs(evaluate(row.phi, at)) for row in of_products) < 1e-12


def test_plane_body_has_two_coordinates_a_mode_beside_its_amplitude():
    names = [c.name for c in spin_up(modes=2).build().system.coordinates]
    assert names[3:] == [
        "beam_mode1",
        "beam_mode2",
        "beam_mode1_turned_x",
        "beam_mode1_turned_y",
        "beam_mode2_turned_x",
        "beam_mode2_turned_y",
        "beam_turned_short_x",
        "beam_turned_short_y",
    ]


def test_stiffening_is_left_out_only_by_choice():
    names = [c.name for c in spin_up(stiffening=False).build().system.coordinates]
    assert not any("short" in name for name in names)


@pytest.mark.slow
def test_free_body_keeps_its_energy_while_it_spins_and_falls(kernel, tmp_path):
    made = free_shaft(modes=1, line=[(0, 0, 0), (0.7, 0, 0)])
    stepper = kernel(made.save(tmp_path), step_s=1e-3).Kernel()
    assert stepper.reset() == 0
    before = stepper.outputs["shaft/energy_j"]
    for _ in range(300):
        assert stepper.step() == 0
    assert stepper.outputs["shaft/energy_j"] == pytest.approx(before, abs=1e-9)
