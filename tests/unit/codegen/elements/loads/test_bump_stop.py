"""A bump stop pushes, and damps, beyond its limits alone."""

import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.expressions.dag import evaluate


def stopped(**keys):
    made = MechanismBuilder("m").distance("x").mass("x", distance="x", mass_kg=2.0)
    return made.bump_stop("stop", distance="x", **keys)


BOTH = {"lower_m": -0.1, "upper_m": 0.2, "stiffness_n_per_m": 1e4, "damping_ns_per_m": 50.0}


@pytest.mark.parametrize(("place", "rate", "force"), [
    (0.0, 3.0, 0.0), (0.2, 3.0, 0.0), (0.19, -3.0, 0.0), (0.21, 0.0, -100.0), (0.21, 1.0, -150.0), (0.21, -1.0, -50.0),
    (0.21, -3.0, 0.0),  # leaving so fast that the damper would pull
    (-0.11, 0.0, 100.0), (-0.11, -1.0, 150.0), (-0.11, 3.0, 0.0),
])  # fmt: skip
def test_a_stop_pushes_in_contact_and_never_pulls(place, rate, force, force_on):
    assert force_on(stopped(**BOTH), [place], [rate])[0] == pytest.approx(force, abs=1e-9)


def test_the_energy_of_a_stop_is_that_of_its_spring():
    system = stopped(**BOTH).build().system
    at = {p.var.name: p.default for p in system.parameters}
    for place, energy in ((0.1, 0.0), (0.21, 0.5), (-0.12, 2.0)):
        assert evaluate(system.potential, at | {"q x": place}) == pytest.approx(energy)


def test_a_mass_bounces_without_a_loss_and_damped_with_one(kernel, tmp_path):
    def fastest_after(damping):
        made = stopped(upper_m=0.05, stiffness_n_per_m=1e4, damping_ns_per_m=damping)
        made.output("x/rate_m_s", "x.rate")
        text = made.text().replace("[distance.x]", "[distance.x]\ninitial_rate_m_s = 1.0")
        path = tmp_path / f"m{damping:.0f}.toml"
        path.write_text(text.replace('name = "m"', ""))
        stepper = kernel(path, step_s=2e-4, formulation="independent").Kernel()
        stepper.reset()
        for _ in range(500):
            assert stepper.step() == 0
        return stepper.outputs["x/rate_m_s"]

    assert fastest_after(0.0) == pytest.approx(-1.0, rel=1e-3)
    assert -0.9 < fastest_after(40.0) < -0.3


@pytest.mark.parametrize(("keys", "key", "told"), [
    ({"stiffness_n_per_m": 1.0}, "", "has no limit"),
    ({"upper_m": 1.0}, "stiffness_n_per_m", "is missing"),
    ({**BOTH, "lower_m": 0.3}, "lower_m", "is not below"),
    ({"upper_rad": 1.0, "upper_m": 1.0, "stiffness_n_per_m": 1.0}, "upper_rad", "other unit"),
    ({"upper_m": 1.0, "stiffness_n_per_m": -1.0}, "stiffness_n_per_m", "not above 0"),
    ({"upper_m": 1.0, "stiffness_n_per_m": {"input": 1.0}}, "stiffness_n_per_m", "input signal"),
    ({"angle": "x", "upper_m": 1.0, "stiffness_n_per_m": 1.0}, "", "one coordinate"),
])  # fmt: skip
def test_a_wrong_stop_names_its_key(keys, key, told):
    with pytest.raises(MechanismError) as caught:
        stopped(**keys).build()
    named = "bump_stop.stop" + (f".{key}" if key else "")
    assert any(m.key == named and told in str(m) for m in caught.value.mistakes)
