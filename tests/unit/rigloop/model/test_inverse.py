"""`rigloop model inverse`: torques against the closed form, source that compiles, and wrong files."""

import ctypes
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rigloop.cli import app

PAGE = Path(__file__).parents[4] / "docs" / "models" / "mechanisms.md"
G = 9.81


@pytest.fixture
def inverse(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    text = re.search(r'```toml\n(name = "arm".*?)```', PAGE.read_text(), re.S)[1]
    (tmp_path / "arm.toml").write_text(text)
    return lambda *words: CliRunner().invoke(app, ["model", "inverse", *map(str, words)])


def planar_torques(q, qd, qdd):
    """Return the torques of the page's arm, from the textbook's matrices of two links in a plane."""
    m1, m2, a1, c1, c2, i1, i2 = 3.0, 1.0, 0.7, 0.35, 0.2, 0.12, 0.014
    cos2, sin2 = np.cos(q[1]), np.sin(q[1])
    m22 = m2 * c2**2 + i2
    m12 = m2 * a1 * c2 * cos2 + m22
    m11 = m1 * c1**2 + i1 + m2 * a1**2 + m22 + 2 * m2 * a1 * c2 * cos2
    h = m2 * a1 * c2 * sin2
    g2 = m2 * c2 * G * np.cos(q[0] + q[1])
    return np.array([
        m11 * qdd[0] + m12 * qdd[1] - h * (2 * qd[0] * qd[1] + qd[1] ** 2)
        + (m1 * c1 + m2 * a1) * G * np.cos(q[0]) + g2,
        m12 * qdd[0] + m22 * qdd[1] + h * qd[0] ** 2 + g2,
    ])  # fmt: skip


def test_torques_are_those_of_the_textbook(inverse):
    done = inverse("arm.toml", "--at", "1=0.5,2,-3", "--at", "2=-0.3,1.5,4", "--json")
    found = json.loads(done.stdout)
    torques = [joint["torque"] for joint in found["joints"]]
    # sums of ten terms of this size
    assert torques == pytest.approx(planar_torques((0.5, -0.3), (2, 1.5), (-3, 4)), rel=1e-12)


def test_the_c_source_gives_the_same_torques(inverse, tmp_path):
    done = inverse("arm.toml", "--at", "1=0.5,2,-3", "--at", "2=-0.3,1.5,4", "-o", "out", "--json")
    found = json.loads(done.stdout)
    assert found["written"] == ["out/arm.h", "out/arm.c"]
    library = tmp_path / "arm.so"
    gcc = ["gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-O2", "-shared", "-fPIC"]
    subprocess.run([*gcc, "-o", library, "out/arm.c", "-lm"], check=True)
    arm = ctypes.CDLL(library)
    mu, k, tau = np.array(found["mu"]), np.zeros(64), np.zeros(2)
    state = [np.array(values) for values in ((0.5, -0.3), (2.0, 1.5), (-3.0, 4.0))]
    at = [array.ctypes.data_as(ctypes.c_void_p) for array in (mu, k, *state, tau)]
    arm.arm_constants(at[0], at[1])
    arm.arm_torques(*at[2:5], at[1], at[5])
    assert tau == pytest.approx([joint["torque"] for joint in found["joints"]], rel=1e-12)


def test_base_parameters_are_the_combinations_that_torques_determine(inverse):
    done = inverse("arm.toml")
    assert done.exit_code == 0, done.output
    for part in ("base parameters", "1.m", "without any effect", "1.zz", "torque or force", "Nm"):
        assert part in done.stdout, part
    found = json.loads(inverse("arm.toml", "--json").stdout)
    # of each link: the inertia about its axis, and two moments of first order
    assert len(found["base"]) == 6


def test_all_mistakes_of_a_file_are_said_at_once(inverse, tmp_path):
    wrong = (tmp_path / "arm.toml").read_text()
    wrong = wrong.replace('"hinge"', '"hing"', 1).replace("mass_kg = 1.0", "mass = 1.0")
    (tmp_path / "wrong.toml").write_text(wrong.replace('name = "arm"', 'name = "int"'))
    done = inverse("wrong.toml")
    assert done.exit_code == 2
    for part in ("joints.0.kind", "joints.1.link.mass", "did you mean 'mass_kg'", "name = 'int'"):
        assert part in done.stderr, part


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[0.001, 0.12, 0.12", "[0.001, 0.12, 0.2", "no body has this inertia"),
        ("mass_kg = 3.0", "mass_kg = 0.0", "a link without mass has no inertia"),
        ("length_m = 0.7", "length_m = 1e300", "limit"),
    ],
)
def test_what_no_arm_can_have_is_refused(inverse, tmp_path, old, new, said):
    (tmp_path / "arm.toml").write_text((tmp_path / "arm.toml").read_text().replace(old, new))
    done = inverse("arm.toml")
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize("words", ["3=1", "0=1", "1", "1=a", "1=1,2,3,4", "1=nan"])
def test_a_motion_of_no_joint_is_refused(inverse, words):
    done = inverse("arm.toml", "--at", words)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_folder_that_cannot_be_written_is_named(inverse, tmp_path):
    (tmp_path / "taken").write_text("")
    done = inverse("arm.toml", "-o", "taken")
    assert done.exit_code == 2
    assert "taken" in done.stderr


def test_a_mechanism_that_is_a_tree_goes_by_its_name_and_its_coordinates(inverse, tmp_path):
    done = inverse("desk_arm", "--at", "elbow=0.5,1,2", "--output", tmp_path / "arm", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["n_joints"], found["n_parameters"], len(found["base"])) == (7, 70, 43)
    elbow = next(joint for joint in found["joints"] if joint["name"] == "elbow")
    assert (elbow["at"], elbow["rate"], elbow["acceleration"]) == (0.5, 1.0, 2.0)
    assert (tmp_path / "arm" / "desk_arm.c").is_file()

    done = inverse("desk_arm", "--at", "elbw=0.5", "--at", "lift=x")
    assert done.exit_code == 2
    assert "did you mean" in done.stderr
    assert "is not joint=angle,rate,acceleration" in done.stderr
