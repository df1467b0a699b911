"""Filters over a beam that bends: the unscented one finds what the extended ones find."""

import numpy as np
import pytest

import rigloop
from codegen.description.builder import MechanismBuilder
from estimators.closed_loop.fast_modes import require_slow

pytestmark = pytest.mark.slow

STEP_S = 1e-3
SENSORS = {
    "encoder": {"kind": "encoder", "angle": "turn", "std": 1e-5},
    "gauge": {"kind": "strain_gauge", "body": "beam", "gauge": "bow", "std": 1e-7},
}
FORCE = "wrench/push/force_y_n"
JUMPS_AT, PATIENCE = 300, 20


@pytest.fixture(scope="module")
def beam(tmp_path_factory):
    """A beam of two modes on a motor, pushed at its tip: mechanism file, its motion, and the push."""
    made = (
        MechanismBuilder("pushed_beam").angle("turn").point("P", position_m=(1, 0, 0), moves="xy")
    )
    made.rotation(
        "turn", angle="turn", axis=(0, 0, 1), zero=(1, 0, 0), point="P", centre_m=(0, 0, 0)
    )
    made.inertia("hub", angle="turn", inertia_kg_m2=0.5)
    made.flexible_body(
        "beam", points=[(0, 0, 0), "P"], axis=(0, 0, 1), frame="root", modes=2, damping_ratio=0.01,
        beam={
            "line_m": [(0, 0, 0), (1.5, 0, 0)], "density_kg_m3": 2700.0, "youngs_pa": 7e10, "area_m2": 4e-4,
            "second_moment_m4": 1.3e-8, "nodes": {"root": 0.0, "tip": 1.0},
            "gauges": {"bow": {"at": 0.1, "offset_m": (0, 0.01, 0)}},
        },
    )  # fmt: skip
    made.wrench("push", body="beam_tip", point_m=(1.5, 0, 0), force_n=[0.0, {"input": 0.0}, 0.0])
    made.output("turn/angle_rad", "turn").output("bow/strain", "flexible_body.beam.strain_bow")
    path = made.save(tmp_path_factory.mktemp("beam"))
    t = STEP_S * np.arange(600)
    push = 5.0 * np.sin(2.0 * np.pi * 1.5 * t)
    motion = rigloop.mechanism(path, step_s=STEP_S).run({f"input/{FORCE}": push})
    return path, motion, push


def estimate(beam, method, jump_rad=0.0, **settings):
    path, motion, _ = beam
    rng = np.random.default_rng(1)
    read = {"encoder": "turn/angle_rad", "gauge": "bow/strain"}
    samples = {k: motion[p] + SENSORS[k]["std"] * rng.normal(size=600) for k, p in read.items()}
    samples["encoder"][JUMPS_AT:] += jump_rad
    found = rigloop.observer(
        path, SENSORS, method=method, acceleration_noise=[1e-4] * 3, independent=("turn", "beam_mode1", "beam_mode2"),
        unknown=(FORCE,), start_std=[1e-3] * 3 + [1e-2] * 3 + [5.0], input_noise={FORCE: 1e3}, step_s=STEP_S,
        **settings,
    )  # fmt: skip
    return found.run(samples)


# the beam turns by 0.3 rad. Its points see of that what is of second order in their spread of 1e-3 rad; with held
# slopes the extended filter alone keeps those of the start, measured 0.12 N
@pytest.mark.parametrize(("transition", "apart_n"), [("discrete", 0.01), ("held", 0.2)])
def test_an_unscented_filter_over_modes_is_the_extended_one(beam, transition, apart_n):
    of = [estimate(beam, method, transition=transition) for method in ("UKF", "DEKF")]
    push = beam[2]
    for found in of:
        assert np.all(found["status"] == 0.0)
        assert np.std((found[FORCE] - push)[100:]) < 0.25 * np.std(push)  # measured 0.19
    unscented, extended = of
    assert unscented[FORCE] == pytest.approx(extended[FORCE], abs=apart_n)
    assert unscented["turn_rad"] == pytest.approx(extended["turn_rad"], abs=1e-6)


@pytest.mark.parametrize("method", ["DEKF", "errorEKF"])
def test_an_encoder_that_jumps_moves_the_angle_and_nothing_else(beam, method):
    # 0.05 rad are 5000 of its standard deviations
    calm, found = (
        estimate(beam, method, jump, transition="discrete", gate_patience=PATIENCE)
        for jump in (0.0, 0.05)
    )
    assert np.all(found["status"] == 0.0)
    taken = JUMPS_AT + PATIENCE
    moved = found["turn_rad"] - calm["turn_rad"]
    assert np.max(np.abs(moved[:taken])) < 1e-3
    assert moved[taken] == pytest.approx(0.05, abs=1e-3)
    # the old covariance took the jump for a motion: rates of 3 rad/s and amplitudes of 0.1 m
    for name, most in (
        ("turn_rate_rad_s", 0.2),
        ("beam_mode1_m", 3e-3),
        ("beam_mode1_rate_m_s", 0.3),
    ):
        assert np.max(np.abs(found[name] - calm[name])[taken:]) < most, name
    assert found["repaired"][-1] == 1.0
    # the push acts along a global axis, and is found again: cos(0.05) of it, and the noise of 2 N
    assert np.std((found[FORCE] - calm[FORCE])[taken + 100 :]) < 0.6


def test_filters_without_the_exact_step_are_refused_by_name(beam):
    with pytest.raises(
        ValueError, match="knows no transition 'discrete'; take errorEKF, DEKF or UKF"
    ):
        estimate(beam, "CEKF", transition="discrete")


@pytest.mark.parametrize(
    ("hz", "step_s", "refused"), [(200.0, 1e-3, True), (100.0, 1e-3, False), (200.0, 1e-4, False)]
)
def test_a_mode_that_euler_lets_grow_is_refused_with_its_frequency_and_what_would_do(
    hz, step_s, refused
):
    slopes = np.array([[-((2.0 * np.pi * hz) ** 2), 0.0, 1.0]])
    info = {"name": "rod", "state_names": ["mode", "mode.rate", "push"], "unknown": ["push"]}

    def ask():
        require_slow(lambda x: {"status": 0, "zdd_x": slopes}, info, [0.0] * 3, step_s)

    if not refused:
        ask()
        return
    words = r"rod: its fastest motion, 200 Hz, grows by 1.61 .* step of 1 ms: take transition = 'discrete'"
    with pytest.raises(ValueError, match=words):
        ask()
