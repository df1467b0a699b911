"""Formulations beside ALI3-P with their integrators: orders of convergence and reactions against
exact solutions, redundant rows, dead centres, guides within a step.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.n_four_bar import n_four_bar
from codegen.kernels.build import build_kernel
from codegen.kernels.verify import VerificationError
from codegen.options.options import INTEGRATORS, KernelOptions

REFERENCES = Path(__file__).parents[3] / "data" / "references"
FORMULATIONS = ("penalty", "index1", "hamiltonian", "independent")
ALL = [(f, i) for f in FORMULATIONS for i in INTEGRATORS[f]]
CONVERGED = {"iterations": 20, "tolerance": 1e-11}


def exact(name):
    with (REFERENCES / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def scheme(formulation, integrator, **more):
    """Options; the trapezoidal rule is iterated until nothing of the iteration is left."""
    implicit = CONVERGED if integrator == "trapezoidal" else {}
    return {"formulation": formulation, "integrator": integrator} | implicit | more


def angle_errors(module, reference, guide, seconds, reaction):
    """Largest errors of angle, rate and guide reaction at the times of the reference."""
    at = {name: i for i, (name, _) in enumerate(module.model_info()["coordinates"])}["theta"]
    stepper, step_s, steps = module.Kernel(), module.model_info()["step_s"], 0
    assert stepper.reset(*guide) == 0
    times, found = reference["t"], np.zeros(3)
    for k in range(1, int(np.searchsorted(times, seconds + 1e-9))):
        for _ in range(round((times[k] - times[k - 1]) / step_s)):
            steps += 1
            assert stepper.step(*guide) == 0
        sign, column = reaction
        mine = (stepper.q[at], stepper.qd[at], sign * stepper.reaction[0])
        true = (reference["theta"][k], reference["omega"][k], reference[column][k])
        found = np.maximum(found, np.abs(np.subtract(mine, true)))
    return found


ORDER = {"forward_euler": 1, "semi_implicit_euler": 1, "trapezoidal": 2, "rk4": 4}


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "integrator"), ALL)
def test_angle_rate_and_rod_force_of_a_pendulum_converge(twin, formulation, integrator):
    # the stabilisation of rates within 5 ms wants steps below that
    fine = (2.5e-3 if formulation == "hamiltonian" else 5e-3) if integrator == "rk4" else 1e-3
    found = []
    for step_s in (2.0 * fine, fine):
        module = twin(
            REFERENCES / "pendulum.toml", **scheme(formulation, integrator, step_s=step_s)
        )
        guide, rod = (1.0, 0.0, 0.0), (-1.0, "tension")
        found.append(angle_errors(module, exact("pendulum"), guide, 1.0, rod))
    order = np.log2(found[0] / found[1])
    # more where the error is one of phase that happens to be small
    assert np.all(order > ORDER[integrator] - 0.3), (order, found)
    assert np.all(found[1] < {1: 2.5, 2: 6e-3, 4: 4e-2}[ORDER[integrator]])


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["index1", "hamiltonian", "independent"])
def test_runge_kutta_is_of_order_four_on_a_slider_crank(twin, formulation):
    found = []
    for step_s in (1.25e-3, 6.25e-4):
        module = twin(REFERENCES / "crank_free.toml", **scheme(formulation, "rk4", step_s=step_s))
        made = angle_errors(
            module, exact("slider_crank_free"), (0.0, 0.0, 0.0), 0.2, (1.0, "N_guide")
        )
        found.append(made)
    order = np.log2(found[0] / found[1])
    assert np.all((order > 3.5) & (order < 5.5)), (order, found)
    assert found[1][0] < 2e-6  # of 4 rad


def crank_guide(t):
    turn = 4.0 * math.pi
    angle = math.pi / 4 + 6 * math.pi * t + 0.5 * math.sin(turn * t)
    rate = 6 * math.pi + 0.5 * turn * math.cos(turn * t)
    return angle, rate, -0.5 * turn**2 * math.sin(turn * t), 0.0, 0.0, 0.0


# all motion is given: what is left is what a formulation leaves open of the constraints
OPEN = {
    ("penalty", "rk4"): (1e-5, 2e-3),
    ("index1", "rk4"): (1e-5, 2e-3),
    ("hamiltonian", "rk4"): (1e-5, 2e-3),
    ("independent", "rk4"): (1e-11, 1e-9),
    ("independent", "semi_implicit_euler"): (1e-11, 1e-9),
}


@pytest.mark.parametrize(("formulation", "integrator"), OPEN)
def test_guided_slider_crank_has_the_exact_torque(twin, formulation, integrator):
    module = twin(REFERENCES / "crank_guided.toml", **scheme(formulation, integrator))
    at = {name: i for i, (name, _) in enumerate(module.model_info()["coordinates"])}["B_x"]
    stepper, reference = module.Kernel(), exact("slider_crank_guided")
    stepper.reset(*crank_guide(0.0))
    worst, place = 0.0, 0.0
    for k in range(1, 401):
        stepper.step(*crank_guide(k * 1e-3))
        if k % 50 == 0:
            row = k // 50
            torque, height = reference["torque_crank"][row], reference["N_guide"][row]
            worst = max(worst, abs(stepper.reaction[0] - torque), abs(stepper.reaction[1] - height))
            place = max(place, abs(stepper.q[at] - reference["x_B"][row]))
    assert place < OPEN[formulation, integrator][0]
    assert worst < OPEN[formulation, integrator][1]


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.slow
def test_compiled_kernel_is_its_twin(kernel, twin, formulation):
    # the build compares 50 steps of each and refuses the kernel otherwise; here 300
    options = scheme(formulation, INTEGRATORS[formulation][0])
    module = kernel(REFERENCES / "crank_guided.toml", **options)
    slow_module = twin(REFERENCES / "crank_guided.toml", **options)
    fast, slow = module.Kernel(), slow_module.Kernel()
    assert fast.reset(*crank_guide(0.0)) == 0
    slow.reset(*crank_guide(0.0))
    for k in range(1, 301):
        assert fast.step(*crank_guide(k * 1e-3)) == 0
        slow.step(*crank_guide(k * 1e-3))
    np.testing.assert_allclose(fast.q, slow.q, atol=1e-10)
    np.testing.assert_allclose(fast.reaction, slow.reaction, rtol=1e-6)
    again = module.Kernel()
    again.reset(*crank_guide(0.0))
    for k in range(1, 301):
        again.step(*crank_guide(k * 1e-3))
    assert (again.q, again.qd, again.reaction) == (fast.q, fast.qd, fast.reaction)
    assert fast.step(math.nan, *crank_guide(0.0)[1:]) == 1
    assert again.q == fast.q
    # cycles were lost and the guide is 0.9 rad away: assembled there, with consistent reactions
    there = crank_guide(0.35)
    assert fast.step(*there) == 0
    assert again.reset(*there) == 0
    assert fast.residual < 1e-6
    np.testing.assert_allclose(fast.q, again.q, atol=1e-6)


def cart(folder):
    """A pendulum of 1 m on a guided pivot."""
    made = MechanismBuilder("cart", gravity_m_s2=(0, -9.81, 0))
    made.point("C", position_m=(0, 0, 0), moves="x")
    made.point("P", position_m=(0, -1, 0), moves="xy")
    made.constant_distance("rod", points=["C", "P"]).mass("P", point="P", mass_kg=1.0)
    made.mass("C", point="C", mass_kg=1.0)
    made.guide("pivot", coordinate="C_x")
    return made.save(folder)


def shaken(t):
    return 0.1 * math.sin(9.0 * t), 0.9 * math.cos(9.0 * t), -8.1 * math.sin(9.0 * t)


def swing(seconds, step_s=1e-4):
    """Angle of that pendulum from below: theta'' = -g sin theta - a cos theta."""
    theta, omega = 0.0, -0.9  # P starts at rest while the pivot moves

    def rate(t, y):
        return np.array([y[1], -9.81 * math.sin(y[0]) - shaken(t)[2] * math.cos(y[0])])

    y = np.array([theta, omega])
    for k in range(round(seconds / step_s)):
        t = k * step_s
        a = rate(t, y)
        b = rate(t + step_s / 2, y + step_s / 2 * a)
        c = rate(t + step_s / 2, y + step_s / 2 * b)
        d = rate(t + step_s, y + step_s * c)
        y = y + step_s / 6 * (a + 2 * b + 2 * c + d)
    return y[0]


def hanging(module, seconds):
    stepper, step_s = module.Kernel(), module.model_info()["step_s"]
    stepper.reset(*shaken(0.0), qd=[0.9, 0.0, 0.0])
    for k in range(1, round(seconds / step_s) + 1):
        stepper.step(*shaken(k * step_s))
    x, px, py = stepper.q
    return math.atan2(px - x, -py)


@pytest.mark.parametrize("formulation", ["index1", "independent"])
def test_guides_within_a_step_keep_order_four(twin, tmp_path_factory, formulation):
    path = cart(tmp_path_factory.mktemp("cart"))
    true = swing(0.8)
    error = [
        abs(hanging(twin(path, **scheme(formulation, "rk4", step_s=step_s)), 0.8) - true)
        for step_s in (2e-2, 1e-2)
    ]
    assert math.log2(error[0] / error[1]) > 3.5, error
    assert error[1] < 1e-5
    fine = twin(path, **scheme(formulation, "rk4", step_s=2e-2, substeps=2))
    # halves of a call are steps whose guides the call interpolates
    assert abs(hanging(fine, 0.8) - true) < 2.0 * error[1]


@pytest.mark.slow
def test_input_signals_are_linear_within_a_step(twin):
    # a torque of 6 sin(pi t) Nm: what is left is the chord of the sine, of order two
    reference, found = exact("steering_torque_driven"), []
    for step_s in (5e-3, 2.5e-3):
        module = twin("steering_rack", **scheme("independent", "rk4", step_s=step_s))
        at = [name for name, _ in module.model_info()["coordinates"]].index("wheel")
        stepper = module.Kernel()
        stepper.signal = np.zeros(1)
        stepper.reset()
        for k in range(1, round(0.25 / step_s) + 1):
            stepper.signal = np.array([6.0 * math.sin(math.pi * k * step_s)])
            stepper.step()
        found.append(abs(stepper.q[at] - reference["theta"][5]))
    assert math.log2(found[0] / found[1]) == pytest.approx(2.0, abs=0.2)
    assert found[1] < 1e-5


def doubled(folder):
    """A parallelogram with a third, redundant crank."""
    made = MechanismBuilder("doubled", gravity_m_s2=(0, -9.81, 0))
    for i in range(3):
        made.point(f"B{i}", position_m=(i, 1, 0), velocity_m_s=(1, 0, 0), moves="xy")
        made.constant_distance(f"crank_{i}", points=[(i, 0, 0), f"B{i}"])
        made.uniform_rod(f"crank_{i}", points=[(i, 0, 0), f"B{i}"], mass_kg=1.0)
    for i, j in ((0, 1), (1, 2), (0, 2)):
        made.constant_distance(f"coupler_{i}{j}", points=[f"B{i}", f"B{j}"])
    return made.save(folder)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_redundant_rows_change_nothing(twin, tmp_path_factory, formulation):
    integrator = "trapezoidal"
    path = doubled(tmp_path_factory.mktemp("doubled"))
    module = twin(path, **scheme(formulation, integrator))
    stepper = module.Kernel()
    stepper.reset()
    before = stepper.energy()
    for _ in range(300):
        stepper.step()
    # on a straight coupler the redundant row adds no freedom, and no row is left open
    assert abs(stepper.energy() - before) < 2e-4
    assert stepper.residual < 1e-5
    assert np.all(np.isfinite(stepper.lam))
    np.testing.assert_allclose(stepper.q[0::2] - stepper.q[0], [0.0, 1.0, 2.0], atol=1e-4)


def test_independent_coordinates_change_before_their_dead_centre(twin):
    # the height does not move at the lowest point, which the pendulum passes
    module = twin(REFERENCES / "pendulum.toml", **scheme("independent", "rk4", step_s=5e-3))
    names = [name for name, _ in module.model_info()["coordinates"]]
    stepper = module.Kernel()
    stepper.reset(1.0, 0.0, 0.0)
    stepper.z = [names.index("P_y")]
    seen = set()
    for _ in range(400):
        stepper.step(1.0, 0.0, 0.0)
        seen.add(names[stepper.z[0]])
        assert stepper.residual < 1e-14
    assert len(seen) > 1
    at = names.index("theta")
    reference = exact("pendulum")
    assert stepper.q[at] == pytest.approx(reference["theta"][20], abs=5e-8)


@pytest.mark.slow
def test_three_freedoms_change_independent_coordinates_as_the_twin_does(kernel, twin, tmp_path):
    # a triple pendulum in points alone: every coordinate stands still now and then
    made = MechanismBuilder("triple", gravity_m_s2=(0, -9.81, 0))
    ends = [(0, 0, 0)]
    for k, place in enumerate([(0.5, 0.1, 0), (1.0, 0.3, 0), (1.4, 0.0, 0)]):
        made.point(f"P{k}", position_m=place, moves="xy")
        ends.append(f"P{k}")
        made.constant_distance(f"rod_{k}", points=ends[-2:])
        made.uniform_rod(f"rod_{k}", points=ends[-2:], mass_kg=1.0)
    path = made.save(tmp_path)
    options = scheme("independent", "rk4")
    fast, slow = kernel(path, **options).Kernel(), twin(path, **options).Kernel()
    assert fast.reset() == 0
    slow.reset()
    before, chosen = slow.energy(), set()
    for _ in range(600):
        assert fast.step() == 0
        slow.step()
        chosen.add(tuple(slow.z))
    assert len(chosen) > 3
    np.testing.assert_allclose(fast.q, slow.q, atol=1e-9)  # round-off, grown in 0.6 s
    assert slow.energy() == pytest.approx(before, abs=1e-5)  # 2.4e-6: of order four
    assert fast.residual < 1e-14


@pytest.mark.slow
def test_a_singular_position_is_told(kernel, tmp_path):
    # upright, two motions are open and one independent coordinate is too few
    made = MechanismBuilder("upright", gravity_m_s2=(0, -9.81, 0))
    made.point("P", position_m=(0, 1, 0), moves="xy").point("S", position_m=(0, 0, 0), moves="x")
    made.constant_distance("crank", points=[(0, 0, 0), "P"])
    made.constant_distance("conrod", points=["P", "S"])
    made.mass("P", point="P", mass_kg=1.0).mass("S", point="S", mass_kg=1.0)
    with pytest.raises(VerificationError, match="status 2"):
        build_kernel(made.save(tmp_path), KernelOptions(formulation="independent"))


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_loops_of_a_large_mechanism_step_as_unrolled_text_does(tmp_path, monkeypatch, formulation):
    path = tmp_path / "n_four_bar_12.toml"
    path.write_text(n_four_bar(12))
    made = {"formulation": formulation, "residual_limit": 1e-2}
    unrolled = build_kernel(path, KernelOptions(**made)).module.Kernel()
    monkeypatch.setattr("codegen.equations.equations.LARGE", 4)
    # other options give the looped kernel a place of its own in the cache
    looped = build_kernel(path, KernelOptions(cflags=("-DLOOPED",), **made)).module.Kernel()
    for stepper in (unrolled, looped):
        stepper.reset()
        for _ in range(100):
            assert stepper.step() == 0
    # the same sums in another order
    np.testing.assert_allclose(looped.q, unrolled.q, atol=1e-12)
