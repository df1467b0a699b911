"""The film of a run: the run's own kernel steps over what it saw, and gives what it gave."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from codegen.description.mechanism import load
from io_bridge.recording.record import open_record
from rigloop.cli import app
from rigloop.drawing.motion import motion_of_run
from rigloop.run_folder.manifest import ManifestError

pytestmark = pytest.mark.slow

LOG = Path(__file__).parents[2] / "data" / "logs" / "phobos_limtoc_k10_step.csv"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a replayed log."""
    runs = tmp_path_factory.mktemp("runs")
    done = CliRunner().invoke(app, ["replay", str(LOG), "--runs", str(runs)])
    assert done.exit_code == 0, done.stdout + done.stderr
    (folder,) = runs.iterdir()
    return folder


def test_poses_are_those_of_the_run(run):
    mechanism = load("steering_26")
    told = []
    motion = motion_of_run(run, mechanism, lambda done, total: told.append((done, total)))
    assert not motion.notes  # every output of every frame has the bits of the record
    record = open_record(run / "simulation.npy")
    every = round(motion.frame_s / 1e-3)
    rack = mechanism.system.scalars["rack"].index
    assert np.array_equal(motion.q[:, rack], record["steering/rack/travel_m"][::every])
    assert np.ptp(motion.q[:, rack]) > 1e-4  # it moves
    assert told[-1][1] == len(record)


def test_a_run_of_another_mechanism_is_told(run):
    with pytest.raises(ManifestError, match=r"'guided_rod'.*steering_26"):
        motion_of_run(run, load("guided_rod"), lambda done, total: None)


@pytest.mark.slow
def test_the_command_films_it(run, tmp_path):
    film = tmp_path / "run.gif"
    done = CliRunner().invoke(
        app, ["model", "show", "steering_26", "--run", str(run), "-o", str(film)]
    )
    assert done.exit_code == 0, done.stderr
    n_frames = len(motion_of_run(run, load("steering_26"), lambda done, total: None).q)
    with Image.open(film) as made:
        assert made.n_frames == n_frames
