"""Bodies on hinges, with redundant rows and without, against plain ones and energy."""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.pose.assembly import assemble


@pytest.mark.slow
def test_a_body_hung_by_a_general_revolute_swings_like_one_about_an_axis(twin, tmp_path):
    # the same physical pendulum in 12 coordinates with a joint, and in one angle
    general = MechanismBuilder("general", gravity_m_s2=(0, -9.81, 0)).point(
        "P", position_m=(1, 0, 0)
    )
    for name, direction in (("u", (1, 0, 0)), ("v", (0, 1, 0)), ("w", (0, 0, 1))):
        general.unit_vector(name, direction=direction)
    lean = MechanismBuilder("lean", gravity_m_s2=(0, -9.81, 0)).unit_vector(
        "v", direction=(0, 1, 0)
    )
    body = {"mass_kg": 2.0, "centre_m": (0.4, 0, 0), "inertia_kg_m2": (0.01, 0.05, 0.06)}
    general.rigid_body("b", points=["P"], vectors=["u", "v", "w"], **body)
    lean.rigid_body("b", points=[(0, 0, 0)], vectors=["v"], axis=(0, 0, 1), angle="a", **body)
    general.revolute("r", bodies=["b", "ground"], point_m=(0, 0, 0), axis=(0, 0, 1), angle="a")
    swung = []
    for made in (general, lean):
        made.angle("a").output("a_rad", "a").output("e_j", "energy").output(
            "y_m", "rigid_body.b.y_m"
        )
        stepper = twin(made.save(tmp_path), step_s=1e-3).Kernel()
        stepper.reset()
        for _ in range(300):
            stepper.step()
        assert stepper.outputs["e_j"] == pytest.approx(0.0, abs=1e-3)
        assert stepper.outputs["y_m"] == pytest.approx(
            0.4 * math.sin(stepper.outputs["a_rad"]), abs=1e-9
        )
        swung.append(stepper.outputs["a_rad"])
    assert swung[0] == pytest.approx(swung[1], abs=2e-5)  # both of order two at 1 ms
    assert swung[0] < -0.5


@pytest.mark.slow
def test_a_door_on_two_hinges_names_its_redundant_rows_and_swings_like_on_one(
    kernel, tmp_path, spatial
):
    swung = []
    for hinges in (1, 2):
        made = spatial(MechanismBuilder(f"door_{hinges}", gravity_m_s2=(0, -9.81, 0)), "a", 1, 3)
        for k in range(hinges):
            made.revolute(f"hinge_{k}", bodies=["a", "ground"], point_m=(0, 0, k), axis=(0, 0, 1))
        made.output("x_m", "rigid_body.a.x_m").output("e_j", "energy")
        found = assemble(made.build())
        assert found.dof == 1
        # the axis rows are the same ones and there once; the points are held twice
        assert len(found.redundant) == 3 * (hinges - 1)
        if found.redundant:
            assert str(found.redundant[-1]).startswith(
                "row 'revolute/hinge_1 meet z' is redundant with"
            )
        stepper = kernel(made.save(tmp_path)).Kernel()
        assert stepper.reset() == 0
        begin = stepper.outputs["e_j"]
        for _ in range(500):
            assert stepper.step() == 0
        assert stepper.residual < 1e-10
        assert stepper.outputs["e_j"] == pytest.approx(begin, abs=1e-3)
        swung.append(stepper.outputs["x_m"])
    assert swung[0] == pytest.approx(swung[1], abs=1e-6)


@pytest.mark.slow
def test_bricard_always_redundant_moves_and_keeps_its_energy(twin, tmp_path):
    # six bars of 1 m, hinges across; bodies share points and hinge axes, so there is no joint at all
    joints = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    made = MechanismBuilder("bricard", gravity_m_s2=(0, -9.81, 0))
    for k in range(1, 5):
        made.point(f"P{k}", position_m=joints[k]).unit_vector(f"a{k}", direction=axes[k])
    points = [joints[0], "P1", "P2", "P3", "P4", joints[5]]
    hinges = [axes[0], "a1", "a2", "a3", "a4", axes[5]]
    for k in range(5):
        begin, end = np.array(joints[k]), np.array(joints[k + 1])
        across = np.ones(3) - np.abs(end - begin)
        made.rigid_body(
            f"bar_{k}",
            points=points[k : k + 2],
            vectors=hinges[k : k + 2],
            mass_kg=1.0,
            centre_m=(begin + end) / 2,
            inertia_kg_m2=across / 12,
        )
    made.output("e_j", "energy").output("P2_x_m", "P2_x")
    found = assemble(made.build())
    assert found.dof == 1
    assert len(found.redundant) == 1
    stepper = twin(made.save(tmp_path)).Kernel()
    stepper.reset()
    begin, away = stepper.outputs["e_j"], 0.0
    for _ in range(2000):
        stepper.step()
        assert stepper.residual < 1e-8
        # second order: some 1e-5 of the 40 J that swing to and fro
        assert stepper.outputs["e_j"] == pytest.approx(begin, abs=2e-3)
        away = max(away, abs(stepper.outputs["P2_x_m"] - 1.0))
    assert away > 0.5


@pytest.mark.slow
def test_two_hinges_of_a_door_carry_together_what_one_carries(kernel, tmp_path, spatial):
    keys = ("fx_n", "fy_n", "fz_n", "tx_nm", "ty_nm")
    carried = []
    for hinges in (1, 2):
        gravity = (0, -9.81, -3.0)  # along the axis too
        made = spatial(MechanismBuilder(f"door_{hinges}", gravity_m_s2=gravity), "a", 1, 3)
        for k in range(hinges):
            made.revolute(f"hinge_{k}", bodies=["a", "ground"], point_m=(0, 0, k), axis=(0, 0, 1))
            for key in keys:
                made.output(f"hinge_{k}/{key}", f"revolute.hinge_{k}.{key}")
        stepper = kernel(made.save(tmp_path)).Kernel()
        assert stepper.reset() == 0
        sums = []
        for _ in range(500):
            assert stepper.step() == 0
            total = np.zeros(5)
            for k in range(hinges):
                fx, fy, fz, tx, ty = (stepper.outputs[f"hinge_{k}/{key}"] for key in keys)
                total += (fx, fy, fz, tx - k * fy, ty + k * fx)  # moments about the origin
            sums.append(total)
        carried.append(np.array(sums))
    shares = [abs(stepper.outputs[f"hinge_{k}/fz_n"]) for k in range(2)]
    assert min(shares) > 0.1 * max(shares)  # neither idles
    peaks = np.abs(carried[0]).max(axis=0)
    assert peaks[:3].min() > 1.0
    wrong = np.abs(carried[1] - carried[0])
    assert (wrong[:, :3].max(axis=0) < 1e-3 * peaks[:3]).all(), wrong.max(axis=0) / peaks
    assert wrong[:, 3:].max() < 1e-3 * peaks.max(), (wrong.max(axis=0), peaks)
