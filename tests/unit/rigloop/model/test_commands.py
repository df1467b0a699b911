"""`rigloop model ...` in this process: tables, JSON, files, exit codes, and what it says of wrong input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from codegen.description.mechanism import load
from rigloop.cli import app

ROBOTS = Path(__file__).parents[3] / "data" / "robots"
COMMANDS = ("show", "check", "linearize", "advise", "import")


@pytest.fixture
def model(monkeypatch, tmp_path):
    # the width that tables and help are wrapped to
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        return CliRunner().invoke(app, ["model", *map(str, arguments)])

    return call


@pytest.mark.slow
def test_the_installed_program_answers_with_exit_codes(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-P", "-m", "rigloop", "model", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)

    good = run("check", "steering_26")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("good")
    bad = run("check", "steering_62")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "'steering_26'" in bad.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(model, command):
    done = model(command, "--help")
    assert done.exit_code == 0
    assert f"rigloop model {command}" in done.stdout
    assert "Example" in done.stdout


@pytest.mark.slow
def test_show_prints_all_that_there_is_to_know(model):
    done = model("show", "steering_26")
    assert done.exit_code == 0, done.stderr
    words = done.stdout
    for part in ("26", "PL_x", "constant_distance.tie_rod_left", "guide/wheel/position_rad",
                 "mass/rack/mass_kg", "guide/torque_nm", "critical path", "cycles", "0.04 kg m²"):  # fmt: skip
        assert part in words, part


def test_show_draws_the_tree_of_rigid_bodies_and_names_its_cuts(model):
    done = model("show", "governor")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    drawn = lines[lines.index("ground") :]
    assert drawn[1:4] == [
        "+-- turn spin --o spindle",
        "    +-- turn left_arm_turn --o left_arm",
        "    +-- turn right_arm_turn --o right_arm",
    ]
    assert "constant_distance.left_link" in "".join(drawn)
    assert 'advised: `formulation = "' in done.stdout


def test_show_as_json_is_one_object(model):
    done = model("show", "double_four_bar", "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["dof"] == 1
    assert [c["name"] for c in facts["coordinates"]][:2] == ["B0_x", "B0_y"]
    assert len(facts["constraints"]) == 5
    assert facts["total_mass_kg"] == 5.0
    assert facts["operations"]["slots"] > 100
    assert facts["operations"]["path_cycles"] > 100
    # the step that is counted and bounded is that of the formulation that is advised
    advised = next(f for f in facts["formulations"] if f["formulation"] == facts["advised"])
    assert f"formulation='{facts['advised']}'" in facts["options"]
    assert facts["operations"]["slots"] + facts["operations"]["sweep"] == advised["operations"]
    assert all(c["moved"] == 0.0 for c in facts["coordinates"])


REDUNDANT = """
[point.P]
position_m = [1.001, 0, 0]
moves = "xy"
[constant_distance.rod]
points = [[0, 0, 0], "P"]
length_m = 1.0
[constant_distance.twin]
points = [[0, 0, 0], "P"]
length_m = 1.0
[mass.ball]
point = "P"
mass_kg = 2.0
"""


def test_redundant_rows_and_what_assembly_moved_are_named(model, tmp_path):
    (tmp_path / "twice.toml").write_text(REDUNDANT)
    facts = json.loads(model("show", "twice.toml", "--json").stdout)
    assert facts["redundant"] == [
        {"row": "constant_distance/twin", "follows_from": ["constant_distance/rod"]}
    ]
    moved = {c["name"]: c["moved"] for c in facts["coordinates"]}
    assert moved["P_x"] == pytest.approx(-0.001)
    assert moved["P_y"] == 0.0
    done = model("check", "twice.toml")
    assert done.exit_code == 0
    assert "row 'constant_distance/twin' is redundant with 'constant_distance/rod'" in done.stdout


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_show_draws_into_a_file(model, tmp_path, suffix):
    done = model("show", "guided_rod", "--output", f"rod{suffix}")
    assert done.exit_code == 0, done.stderr
    head = (tmp_path / f"rod{suffix}").read_bytes()[:8]
    assert head.startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")
    assert f"rod{suffix}" in done.stdout


@pytest.mark.slow
def test_a_free_motion_becomes_a_film(model, tmp_path):
    done = model("show", "double_four_bar", "--simulate", "0.4", "-o", "bars.gif")
    assert done.exit_code == 0, done.stderr
    with Image.open(tmp_path / "bars.gif") as film:
        assert film.n_frames == 11  # 25 a second, and the first
        assert film.info["duration"] == 40
        frames = []
        for number in (0, 10):
            film.seek(number)
            frames.append(film.convert("RGB").tobytes())
    assert frames[0] != frames[1]


@pytest.mark.slow
def test_a_film_as_a_page_needs_nothing_else(model, tmp_path):
    done = model("show", "double_four_bar", "--simulate", "0.2", "-o", "bars.html")
    assert done.exit_code == 0, done.stderr
    text = (tmp_path / "bars.html").read_text()
    start = text.index("const frames = ") + len("const frames = ")
    frames = json.loads(text[start : text.index(";\n", start)])
    assert len(frames) == 6
    assert "http" not in text.replace("data:image", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "steering_62"), "did you mean 'steering_26'"),
        (("show", "guided_rod", "-o", "rod.bmp"), ".svg, .png"),
        (("show", "guided_rod", "-o", "rod.gif"), "--run FOLDER or --simulate SECONDS"),
        (("show", "guided_rod", "-o", "nowhere/rod.svg"), "its folder is not there"),
        (("show", "guided_rod", "--simulate", "1"), "say where the film goes"),
        (("show", "guided_rod", "--simulate", "1", "-o", "rod.gif"), "guides leave it no freedom"),
        (("show", "guided_rod", "--run", "nowhere", "-o", "rod.gif"), "nowhere/manifest.json"),
        (("check", "nowhere.toml"), "no such mechanism file"),
        (("import", "nowhere.urdf"), "cannot be read"),
        (("import", ROBOTS / "README.md"), "is not XML"),
        (("import", ROBOTS / "arm.urdf", "-o", "arm.json"), "end it with .toml"),
        (("import", ROBOTS / "arm.urdf", "-o", "two words.toml"), "use letters, digits and _"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_wrong_input_is_one_line_and_exit_2(model, arguments, words):
    done = model(*arguments)
    assert done.exit_code == 2, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    assert words in line


def test_every_mistake_of_a_mechanism_is_told_at_once(model, tmp_path):
    (tmp_path / "bad.toml").write_text(
        '[point.P]\nposition_m = [1, 0]\n[constant_distance.rod]\npoints = ["Q", "P"]\n'
        '[maas.ball]\npoint = "P"\n'
    )
    done = model("check", "bad.toml")
    assert done.exit_code == 2
    lines = done.stderr.splitlines()
    assert any("maas" in line and "'mass'" in line for line in lines)
    assert any("point.P.position_m" in line for line in lines)
    assert any("constant_distance.rod.points" in line for line in lines)
    answer = json.loads(model("check", "bad.toml", "--json").stdout)
    assert answer["exit_code"] == 2
    assert len(answer["mistakes"]) == len(lines)


def test_check_of_a_good_one_as_json(model):
    answer = json.loads(model("check", "steering_26", "--json").stdout)
    assert answer["mistakes"] == []
    assert answer["dof"] == 0
    assert answer["mechanism"] == "steering_26"


@pytest.mark.slow
def test_an_import_writes_a_mechanism_and_tells_what_it_left_out(model, tmp_path):
    pytest.importorskip("mujoco")
    done = model("import", ROBOTS / "arm.urdf", "-o", "my_arm.toml")
    assert done.exit_code == 0, done.stderr
    assert "left out" in done.stdout
    assert "safety_controller" in done.stdout
    mechanism = load(tmp_path / "my_arm.toml")
    assert mechanism.name == "my_arm"
    again = model("import", ROBOTS / "arm.urdf", "-o", "my_arm.toml")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    done = model("import", ROBOTS / "arm.urdf", "-o", "my_arm.toml", "--force", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["left_out"] == sum(i["status"] == "left out" for i in report["items"])
    assert report["mechanism"] == "my_arm"
    drawn = model("show", "my_arm.toml", "-o", "my_arm.svg")
    assert drawn.exit_code == 0, drawn.stderr


def test_a_missing_extra_is_told_and_exit_3(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    done = model("import", ROBOTS / "arm.urdf")
    assert done.exit_code == 3
    (line,) = done.stderr.splitlines()
    assert "pip install 'rigloop[import]'" in line
