"""Reactions of a guided parallelogram through its flat poses, against its closed form; and which of several reactions a
singular pose leaves determined.
"""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder

START = 0.6
PEAK_NM = 19.6  # of the motion below
OTHER = 0.4  # start of the second crank


def parallelogram(start=START):
    """Three rods of 1 m and 1 kg over a ground of 1 m; the crank is guided."""
    a = np.array([math.cos(start), math.sin(start), 0.0])
    made = MechanismBuilder("parallelogram", gravity_m_s2=(0, -9.81, 0))
    made.point("A", position_m=a, moves="xy").point(
        "B", position_m=a + np.array([1, 0, 0]), moves="xy"
    )
    made.angle("crank", initial_rad=start)
    ends = {"crank": [(0, 0, 0), "A"], "coupler": ["A", "B"], "rocker": [(1, 0, 0), "B"]}
    for rod, points in ends.items():
        made.constant_distance(rod, points=points).uniform_rod(rod, points=points, mass_kg=1.0)
    made.rotation(
        "crank", angle="crank", axis=(0, 0, 1), zero=(1, 0, 0), point="A", centre_m=(0, 0, 0)
    )
    made.guide("crank", coordinate="crank").output("torque_nm", "guide.crank.reaction")
    return made


def turning(t, rate, wave=0.3):
    return (
        START + rate * t + wave * math.sin(3 * t),
        rate + 3 * wave * math.cos(3 * t),
        -9 * wave * math.sin(3 * t),
    )


def torque(angle, _, acceleration):
    """By hand: the rods turn by the same angle, and the coupler only shifts."""
    return (1 / 3 + 1 / 3 + 1) * acceleration + 9.81 * 2 * math.cos(angle)


def passage(module, rate, steps, wave=0.3):
    stepper, errors, blind = module.Kernel(), [], []
    assert stepper.reset(*turning(0.0, rate, wave)) == 0
    for k in range(1, steps + 1):
        guide = turning(k * module.model_info()["step_s"], rate, wave)
        assert stepper.step(*guide) == 0
        errors.append(stepper.reaction[0] - torque(*guide))
        blind.append(stepper.undetermined)
    return np.array(errors), np.array(blind)


def longest(flags):
    run = most = 0
    for flag in flags:
        run = run + 1 if flag else 0
        most = max(most, run)
    return most


def assert_holds(module, rate, steps):
    """The guide torque is right in all steps but a few, which are marked."""
    errors, blind = passage(module, rate, steps)
    told = blind == 0
    assert np.max(np.abs(errors[told])) < 1e-3 * PEAK_NM
    assert longest(~told) <= 2
    # what stands in is the torque of the step before
    assert np.all(np.isfinite(errors))
    assert np.sum(~told) <= 8


@pytest.mark.parametrize("options", [
    {}, {"integrator": "trapezoidal"}, {"rho_inf": 1.0}, {"projection": "B", "reuse": "projection"},
    {"kappa": 1e5}, {"substeps": 3},
])  # fmt: skip
@pytest.mark.slow
def test_the_guide_torque_holds_through_singular_poses(kernel, tmp_path, options):
    module = kernel(parallelogram().save(tmp_path), **options)
    seconds = 3.6
    for rate in (2.0, 2.003, 5.0):
        assert_holds(module, rate, round(seconds / module.model_info()["step_s"]))


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_a_slow_passage_is_told_apart(kernel, tmp_path, rate):
    # starts just before the flat pose
    module = kernel(parallelogram().save(tmp_path))
    stepper = module.Kernel()
    assert stepper.reset(START, 0.0, 0.0) == 0
    angle, wrong, blind = math.pi - 0.02, [], []
    assert stepper.reset(angle, rate, 0.0) == 0
    for k in range(1, round(0.04 / rate / 1e-3)):
        guide = (angle + rate * k * 1e-3, rate, 0.0)
        assert stepper.step(*guide) == 0
        blind.append(stepper.undetermined)
        if not blind[-1]:
            wrong.append(abs(stepper.reaction[0] - torque(*guide)))
        else:
            # the torque of the step before for two steps; after them there is none
            assert math.isnan(stepper.reaction[0]) == (blind[-1] > 2)
    assert max(wrong) < 1e-3 * PEAK_NM


def test_a_guide_that_rests_in_a_singular_pose_has_no_torque(kernel, tmp_path):
    # the rocker of a flat parallelogram may fold either way: no torque belongs to it
    stepper = kernel(parallelogram().save(tmp_path)).Kernel()
    slow = 5.0  # it comes to rest in 0.2 s, as s^3 does

    def coming(s):
        return (
            math.pi - 4e-3 * (1 - s) ** 3,
            12e-3 * slow * (1 - s) ** 2,
            -24e-3 * slow**2 * (1 - s),
        )

    assert stepper.reset(*coming(0.0)) == 0
    for k in range(1, 101):
        guide = coming(k / 200)
        assert stepper.step(*guide) == 0
        assert stepper.undetermined == 0
        assert stepper.reaction[0] == pytest.approx(torque(*guide), abs=1e-3 * PEAK_NM)
    for k in range(101, 301):
        assert stepper.step(*coming(min(k / 200, 1.0))) == 0
    assert stepper.undetermined > 50
    assert math.isnan(stepper.reaction[0])
    assert stepper.outputs["torque_nm"] != stepper.outputs["torque_nm"]


def test_the_block_writes_how_long_nothing_is_determined(kernel, tmp_path):
    stepper = kernel(parallelogram().save(tmp_path)).Kernel()
    assert stepper.writes["undetermined"] == "undetermined"


# what the other formulations do there

EXACT = [
    {"formulation": "index1", "integrator": "rk4"},
    {"formulation": "penalty", "integrator": "rk4"},
    {"formulation": "hamiltonian", "integrator": "rk4"},
    {"formulation": "independent", "integrator": "rk4"},
    {"formulation": "independent", "integrator": "semi_implicit_euler"},
]
COARSE = [
    {"formulation": "index1", "integrator": "semi_implicit_euler"},
    {"formulation": "index1", "integrator": "trapezoidal"},
    {"formulation": "penalty", "integrator": "semi_implicit_euler"},
    {"formulation": "hamiltonian", "integrator": "trapezoidal"},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", EXACT, ids=str)
def test_the_guide_torque_of_other_formulations_holds_through_singular_poses(
    kernel, tmp_path, options
):
    module = kernel(parallelogram().save(tmp_path), **options)
    for rate in (2.0, 2.003, 5.0):
        assert_holds(module, rate, 3600)


@pytest.mark.slow
@pytest.mark.parametrize("options", COARSE, ids=str)
def test_a_coarse_rule_is_not_thrown_off_beside_a_singular_pose(kernel, tmp_path, options):
    module = kernel(parallelogram().save(tmp_path), **options)
    for rate in (2.0, 2.003, 5.0):
        errors, blind = passage(module, rate, 3600)
        flat = np.array([abs(math.sin(turning(k * 1e-3, rate)[0])) for k in range(1, 3601)])
        beside = (flat < 0.05) & (blind == 0)
        # closing rows within two steps, as the euler rules do, takes a third one
        assert np.max(np.abs(errors[beside])) < 0.02 * PEAK_NM
        assert longest(blind > 0) <= 3
        assert np.all(np.isfinite(errors))


@pytest.mark.slow
@pytest.mark.parametrize("options", EXACT[:3], ids=str)
def test_a_guide_at_rest_in_a_singular_pose_has_no_torque_in_other_formulations(
    kernel, tmp_path, options
):
    stepper = kernel(parallelogram().save(tmp_path), **options).Kernel()

    def coming(s):
        s = min(s, 1.0)
        return math.pi - 4e-3 * (1 - s) ** 3, 60e-3 * (1 - s) ** 2, -0.6 * (1 - s)

    assert stepper.reset(START, 0.0, 0.0) == 0
    assert stepper.reset(*coming(0.0)) == 0
    for k in range(1, 301):
        assert stepper.step(*coming(k / 200)) == 0
        if k <= 100:
            assert stepper.undetermined == 0
            wanted = torque(*coming(k / 200))
            assert stepper.reaction[0] == pytest.approx(wanted, abs=2e-3 * PEAK_NM)
    assert stepper.undetermined > 50
    assert math.isnan(stepper.reaction[0])


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["index1", "penalty", "hamiltonian"])
def test_singular_poses_are_counted_where_they_are(kernel, formulation):
    module = kernel("slider_crank", formulation=formulation, integrator="rk4")
    stepper, before = module.Kernel(), 0
    assert stepper.reset() == 0
    seen = []
    for _ in range(1500):
        assert stepper.step() == 0
        upright = math.degrees(abs(math.atan2(stepper.q[0], abs(stepper.q[1]))))
        counted, before = stepper.singular > before, stepper.singular
        seen.append((upright, counted))
    assert any(counted for _, counted in seen)
    assert not any(counted for upright, counted in seen if upright > 1.0)


def beside(start=START):
    """A guided parallelogram, and apart from it a guided rod of 1 m and 1 kg on a hinge."""
    made = parallelogram(start)
    tip = np.array([math.cos(OTHER), math.sin(OTHER), 0.0])
    made.point("T", position_m=tip, moves="xy").angle("arm", initial_rad=OTHER)
    made.constant_distance("arm", points=[(0, 0, 0), "T"])
    made.uniform_rod("arm", points=[(0, 0, 0), "T"], mass_kg=1.0)
    made.rotation("arm", angle="arm", axis=(0, 0, 1), zero=(1, 0, 0), point="T", centre_m=(0, 0, 0))
    made.guide("arm", coordinate="arm").output("arm_nm", "guide.arm.reaction")
    made.output("crank_open", "guide.crank.reaction.undetermined")
    return made.output("arm_open", "guide.arm.reaction.undetermined")


def arm_torque(angle, acceleration):
    return acceleration / 3 + 9.81 / 2 * math.cos(angle)


def both(t):
    """The crank comes to rest flat within 0.2 s; the arm swings on."""
    left = max(0.0, 1.0 - 5.0 * t)
    crank = (math.pi - 4e-3 * left**3, 0.06 * left**2, -0.6 * left)
    arm = (OTHER + 0.3 * math.sin(9 * t), 2.7 * math.cos(9 * t), -24.3 * math.sin(9 * t))
    return crank, arm


@pytest.mark.slow
def test_a_torque_beside_a_singular_pose_stays_right(kernel, tmp_path):
    stepper = kernel(beside().save(tmp_path)).Kernel()
    crank, arm = both(0.0)
    assert stepper.reset(*crank, *arm) == 0
    seen = []
    for k in range(1, 401):
        crank, arm = both(k * 1e-3)
        assert stepper.step(*crank, *arm) == 0
        shown = stepper.outputs
        assert shown["arm_nm"] == pytest.approx(arm_torque(arm[0], arm[2]), abs=1e-3 * PEAK_NM)
        assert shown["arm_open"] == 0.0
        assert shown["crank_open"] == stepper.undetermined
        seen.append(stepper.undetermined)
        if seen[-1] == 0:
            assert shown["torque_nm"] == pytest.approx(torque(*crank), abs=1e-3 * PEAK_NM)
        assert math.isnan(shown["torque_nm"]) == (seen[-1] > 2)
    # the crank rests in the flat pose to the end
    assert seen[-1] > 150


@pytest.mark.slow
def test_joint_forces_are_marked_one_by_one(kernel, tmp_path):
    made = beside()
    # the pull along a rod of the parallelogram, and that along the arm
    made.output("rod_n", "constant_distance.coupler.force_n")
    made.output("hung_n", "constant_distance.arm.force_n")
    made.output("rod_open", "constant_distance.coupler.force_n.undetermined")
    made.output("hung_open", "constant_distance.arm.force_n.undetermined")
    stepper = kernel(made.save(tmp_path)).Kernel()
    crank, arm = both(0.0)
    assert stepper.reset(*crank, *arm) == 0
    for k in range(1, 301):
        crank, arm = both(k * 1e-3)
        assert stepper.step(*crank, *arm) == 0
        shown = stepper.outputs
        # of its mass a third swings with the tip, and half of its weight hangs there
        assert shown["hung_open"] == 0.0
        assert math.isfinite(shown["hung_n"])
    assert shown["rod_open"] > 100
    assert math.isnan(shown["rod_n"])
    exact = arm[1] ** 2 / 3 - 9.81 / 2 * math.sin(arm[0])
    assert abs(shown["hung_n"]) == pytest.approx(abs(exact), abs=1e-3)


@pytest.mark.slow
def test_a_lost_constraint_does_not_hide_behind_a_freedom_that_passes_on(kernel, tmp_path):
    # the freedom of a pendulum apart passes between its coordinates while the crank passes the flat pose
    made = parallelogram()
    made.point("P", position_m=(5.5, 0, 0), moves="xy")
    made.constant_distance("pendulum", points=[(5, 0, 0), "P"])
    made.uniform_rod("pendulum", points=[(5, 0, 0), "P"], mass_kg=1.0)
    module = kernel(made.save(tmp_path))
    errors, blind = passage(module, 2.0, 3600)
    assert np.max(np.abs(errors[blind == 0])) < 1e-3 * PEAK_NM
    assert longest(blind) <= 2


# of any step, penalty and start


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"step_s": 1e-4}, {"step_s": 2e-4}, {"step_s": 5e-3}, {"step_s": 1e-2},
    {"alpha": 1e9}, {"alpha": 1e8}, {"alpha": 1e10, "projection": "B"},
], ids=str)  # fmt: skip
def test_any_step_or_a_penalty_of_the_users_own_gives_no_wrong_torque(kernel, tmp_path, options):
    module = kernel(parallelogram().save(tmp_path), **options)
    seconds = 3.6
    for rate in (2.0, 2.003, 5.0):
        errors, blind = passage(module, rate, round(seconds / module.model_info()["step_s"]))
        assert np.max(np.abs(errors[blind == 0])) < 1e-3 * PEAK_NM
        assert longest(blind) <= 2
        assert np.sum(blind > 0) <= 8


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_start_in_a_singular_pose_has_no_torque(kernel, tmp_path, rate):
    stepper = kernel(parallelogram().save(tmp_path)).Kernel()
    assert stepper.reset(math.pi, rate, 0.0) == 0
    assert stepper.undetermined > 0
    assert math.isnan(stepper.reaction[0])


@pytest.mark.parametrize("angle", [START, math.pi - 0.05, math.pi - 0.01])
def test_a_start_beside_a_singular_pose_has_its_torque(kernel, tmp_path, angle):
    stepper = kernel(parallelogram().save(tmp_path)).Kernel()
    assert stepper.reset(angle, 2.0, 1.0) == 0
    assert stepper.undetermined == 0
    assert stepper.reaction[0] == pytest.approx(torque(angle, 2.0, 1.0), abs=1e-3 * PEAK_NM)


def swinging(angle):
    """A parallelogram without a guide that begins at rest at this angle; it shows the pull along its rods."""
    made = MechanismBuilder("swinging", gravity_m_s2=(0, -9.81, 0))
    a = np.array([math.cos(angle), math.sin(angle), 0.0])
    made.point("A", position_m=a, moves="xy")
    made.point("B", position_m=a + np.array([1, 0, 0]), moves="xy")
    ends = {"crank": [(0, 0, 0), "A"], "coupler": ["A", "B"], "rocker": [(1, 0, 0), "B"]}
    for rod, points in ends.items():
        made.constant_distance(rod, points=points).uniform_rod(rod, points=points, mass_kg=1.0)
        made.output(f"{rod}_n", f"constant_distance.{rod}.force_n")
        made.output(f"{rod}_open", f"constant_distance.{rod}.force_n.undetermined")
    return made


def test_reactions_of_a_mechanism_without_a_guide_are_right_or_marked(kernel, tmp_path):
    # swings from 0.5 above the horizontal through both flat poses' neighbourhoods and down
    start = 0.5
    stepper = kernel(swinging(start).save(tmp_path)).Kernel()
    assert stepper.reset() == 0
    wrong, peak = [], 0.0
    for _ in range(900):
        assert stepper.step() == 0
        shown = stepper.outputs
        x, y = stepper.q[0], stepper.q[1]
        angle = math.atan2(y, x)
        # by hand: (5/3) angle'' = -2 g cos, energy gives angle'^2
        rate2 = 2 * 2 * 9.81 * (math.sin(start) - math.sin(angle)) / (5 / 3)
        # along crank and rocker together: both carry the coupler and their own ends
        both = (1 + 2 / 3) * rate2 - 2 * 9.81 * math.sin(angle)
        peak = max(peak, abs(both))
        if shown["crank_open"] == shown["rocker_open"] == 0.0:
            wrong.append(abs(shown["crank_n"] + shown["rocker_n"] - both))
    assert len(wrong) > 850
    assert max(wrong) < 2e-3 * peak


def test_a_mechanism_without_a_guide_is_marked_in_a_singular_pose(kernel, tmp_path):
    stepper = kernel(swinging(0.0).save(tmp_path)).Kernel()
    assert stepper.reset() == 0
    for _ in range(4):
        assert stepper.outputs["coupler_open"] > 2
        assert math.isnan(stepper.outputs["coupler_n"])
        # its motion is as it was
        assert stepper.step() == 0
        assert np.all(np.isfinite(stepper.q))


# steps that end within 1e-5 rad of the flat pose: before it is closed, the pose has strayed further than that


@pytest.mark.slow
@pytest.mark.parametrize("step_s", [5e-4, 1e-3, 2e-3, 3e-3, 5e-3])
def test_no_rate_of_passing_gives_a_wrong_torque(kernel, tmp_path, step_s):
    module = kernel(parallelogram().save(tmp_path), step_s=step_s)
    for rate in np.arange(1.0, 5.01, 0.25):
        errors, blind = passage(module, rate, round(3.6 / step_s))
        assert np.max(np.abs(errors[blind == 0])) < 1e-3 * PEAK_NM
        assert longest(blind) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("step_s", [3e-3, 5e-3, 1e-2])
def test_a_step_that_ends_in_the_singular_pose_gives_no_wrong_torque(kernel, tmp_path, step_s):
    module = kernel(parallelogram().save(tmp_path), step_s=step_s)
    errors, blind = passage(module, 1.0, round(3.6 / step_s))
    assert np.max(np.abs(errors[blind == 0])) < 1e-3 * PEAK_NM
    assert longest(blind) <= 2


def isosceles():
    """Crank and rod of 1 m and 1 kg; the slider goes through the centre of the crank, where the rod may stay."""
    made = MechanismBuilder("isosceles", gravity_m_s2=(0, -9.81, 0))
    a = np.array([math.cos(START), math.sin(START), 0.0])
    made.point("A", position_m=a, moves="xy")
    made.point("B", position_m=(2 * math.cos(START), 0, 0), moves="x")
    made.angle("crank", initial_rad=START)
    for rod, points in {"crank": [(0, 0, 0), "A"], "rod": ["A", "B"]}.items():
        made.constant_distance(rod, points=points).uniform_rod(rod, points=points, mass_kg=1.0)
    made.rotation(
        "crank", angle="crank", axis=(0, 0, 1), zero=(1, 0, 0), point="A", centre_m=(0, 0, 0)
    )
    return made.guide("crank", coordinate="crank")


@pytest.mark.slow
@pytest.mark.parametrize("step_s", [5e-4, 1e-3, 5e-3])
@pytest.mark.parametrize("rate", [1.3, 3.7])
def test_a_slider_through_the_centre_of_its_crank_has_its_torque(kernel, tmp_path, step_s, rate):
    stepper = kernel(isosceles().save(tmp_path), step_s=step_s).Kernel()
    assert stepper.reset(*turning(0.0, rate)) == 0
    errors, blind, peak = [], [], 0.0
    for k in range(1, round(3.6 / step_s)):
        angle, speed, acceleration = turning(k * step_s, rate)
        assert stepper.step(angle, speed, acceleration) == 0
        sine, cosine = math.sin(angle), math.cos(angle)
        # by hand: inertia 2/3 + 2 sin^2, height of both centres of mass sin / 2
        by_hand = (
            (2 / 3 + 2 * sine**2) * acceleration + 2 * sine * cosine * speed**2 + 9.81 * cosine
        )
        peak = max(peak, abs(by_hand))
        errors.append(stepper.reaction[0] - by_hand)
        blind.append(stepper.undetermined)
    errors, blind = np.array(errors), np.array(blind)
    assert np.max(np.abs(errors[blind == 0])) < 1e-3 * peak
    assert longest(blind) <= 2
