"""Blocks of the user in a rig, as the page says: checked without running them, run by consent, replayed to the bit."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

pytestmark = pytest.mark.slow

TUTORIAL = (Path(__file__).parents[2] / "docs" / "own_blocks.md").read_text()
TOLERANT = "\n[verdict]\nmax_overrun_percent = 100.0\n"
# leaves a trace where it is stepped
STEPPED = """
#include "backlash.h"
#include <stdio.h>
int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{{
    (void)p, (void)s, (void)at;
    fclose(fopen("{trace}", "w"));
    out->y = in->u;
    return 0;
}}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return the folder of the page's rig; nothing is trusted yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    (folder / "blocks").mkdir(parents=True)
    printed = dict(re.findall(r"```\w+\n(?:#|//) (\w+\.\w+)\n(.*?)```", TUTORIAL, re.DOTALL))
    rig = printed.pop("play.toml").replace(
        "period_us = 1000", "period_us = 1000, stall_cycles = 5000"
    )
    (folder / "play.toml").write_text(rig + TOLERANT)
    for name, text in printed.items():
        (folder / "blocks" / name).write_text(text)
    # the page's other source is kept beside the project
    (folder / "blocks" / "backlash.pyx").rename(tmp_path / "backlash.pyx")
    return folder


@pytest.fixture
def trace(project, tmp_path):
    """Return a file that is there once the code has been stepped."""
    (project / "blocks" / "backlash.c").write_text(STEPPED.format(trace=tmp_path / "trace"))
    return tmp_path / "trace"


@pytest.mark.parametrize("language", ["c", "pyx"])
def test_a_rig_with_a_block_of_its_own_runs_and_replays(
    rigloop, rigloop_here, run_to_end, project, tmp_path, language
):
    if language == "pyx":
        (project / "blocks" / "backlash.c").unlink()
        (tmp_path / "backlash.pyx").rename(project / "blocks" / "backlash.pyx")
    done = run_to_end(project / "play.toml", tmp_path / "runs", "--for", "1", "--trust")
    assert done.code == 0, done
    record = open_record(done.folder / "main.npy")
    u, y = record["motor/y"], record["gear/y"]
    wanted, now = [], u[0]
    for value in u:
        now = min(max(now, value - 0.05), value + 0.05)
        wanted.append(now)
    assert np.array_equal(y, wanted)
    (kernel,) = (k for k in read_manifest(done.folder).kernels if k.name == "gear")
    assert len(kernel.sha256) == 64
    # the folder has all that it needs, and its code is what was trusted
    (project / "blocks" / f"backlash.{language}").unlink()
    (project / "blocks" / "backlash.toml").unlink()
    again = rigloop("replay", done.folder, "--runs", tmp_path / "replays", "--json", "--no-report")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["good"]
    assert rigloop_here("report", done.folder).returncode == 0


def test_nothing_that_only_reads_compiles_or_steps_the_code(
    rigloop, project, trace, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for command in ("check", "signals"):
        done = rigloop(command, project / "play.toml", "--json")
        assert done.returncode == 0, done.stderr
        assert "gear" in done.stdout
    done = rigloop("run", project / "play.toml", "--for", "1", "--runs", project / "runs")
    assert done.returncode == 3
    assert not list((tmp_path / "cache").rglob("*.so"))
    assert not trace.exists()
    assert not (project / "runs").exists()


def test_without_trust_it_is_refused_in_one_sentence_and_a_changed_byte_asks_again(
    rigloop, rigloop_here, project
):
    run = ("run", project / "play.toml", "--for", "0.3", "--runs", project / "runs")
    (line,) = rigloop_here(*run).stderr.splitlines()
    for words in ("block backlash", "has not been trusted", "backlash.c", "--trust", "hash "):
        assert words in line
    assert rigloop(*run, "--trust").returncode == 0
    assert rigloop(*run).returncode == 0
    with (project / "blocks" / "backlash.c").open("a") as source:
        source.write("\n")
    refused = rigloop_here(*run)
    assert refused.returncode == 3
    assert "has not been trusted" in refused.stderr


def test_a_run_folder_of_a_stranger_asks_for_trust(
    rigloop, run_to_end, project, tmp_path, trace, monkeypatch
):
    done = run_to_end(project / "play.toml", tmp_path / "runs", "--for", "0.3", "--trust")
    trace.unlink()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "other"))
    refused = rigloop("replay", done.folder, "--runs", tmp_path / "replays")
    assert refused.returncode == 3
    assert "has not been trusted" in refused.stderr
    assert rigloop("report", done.folder).returncode == 0
    assert not trace.exists()
    assert rigloop("replay", done.folder, "--runs", tmp_path / "replays", "--trust").returncode == 0
    assert trace.exists()


def test_a_block_of_an_installed_distribution_is_found_without_being_imported(
    rigloop, run_to_end, project, tmp_path, monkeypatch
):
    site = tmp_path / "site"
    (site / "lab_blocks").mkdir(parents=True)
    (site / "lab_blocks" / "__init__.py").write_text(f"open({str(tmp_path / 'trace')!r}, 'w')")
    for file in (project / "blocks").iterdir():
        file.rename(site / "lab_blocks" / file.name)
    facts = site / "lab_blocks-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: lab_blocks\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[rigloop.blocks]\nlab = lab_blocks\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    rig = project / "play.toml"
    rig.write_text(rig.read_text().replace("blocks/backlash.toml", "lab/backlash"))
    assert rigloop("check", rig).returncode == 0
    assert "has not been trusted" in rigloop("run", rig, "--for", "0.3").stderr
    done = run_to_end(rig, tmp_path / "runs", "--for", "0.3", "--trust")
    assert done.code == 0, done
    monkeypatch.delenv("PYTHONPATH")
    again = rigloop("replay", done.folder, "--runs", tmp_path / "replays")
    assert again.returncode == 0, again.stderr
    assert not (tmp_path / "trace").exists()
    rig.write_text(rig.read_text().replace("lab/backlash", "lab/none"))
    assert "lled distribution brings this block" in rigloop("check", rig).stderr


def installed(site, package, files, entry="lab"):
    """Install a distribution that brings blocks, as pip leaves it."""
    shutil.copytree(files, site / package)
    (site / package / "__init__.py").touch()
    facts = site / f"{package}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[rigloop.blocks]\n{entry} = {package}\n")


def test_two_distributions_with_a_block_of_one_name_are_both_named(
    rigloop, project, tmp_path, monkeypatch
):
    site = tmp_path / "site"
    installed(site, "first_lab", project / "blocks")
    monkeypatch.setenv("PYTHONPATH", str(site))
    rig = project / "play.toml"
    rig.write_text(rig.read_text().replace("blocks/backlash.toml", "lab/backlash"))
    assert rigloop("check", rig).returncode == 0
    installed(site, "second_lab", project / "blocks")
    refused = rigloop("check", rig)
    assert refused.returncode == 2
    (said,) = [line for line in refused.stderr.splitlines() if "blocks.gear.kind" in line]
    assert "more than one installed distribution brings it" in said
    assert str(site / "first_lab") in said
    assert str(site / "second_lab") in said


def test_a_distribution_that_is_installed_in_place_is_found(
    rigloop, project, tmp_path, monkeypatch
):
    site = tmp_path / "site"
    installed(site, "lab_blocks", project / "blocks")
    (site / "lab_blocks").rename(tmp_path / "elsewhere")
    # as setuptools does it: a finder of its own, which Python is given at its start
    (site / "sitecustomize.py").write_text(
        "import sys\nfrom importlib.util import spec_from_file_location\n"
        "class Finder:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'lab_blocks':\n"
        f"            return spec_from_file_location(name, {str(tmp_path / 'elsewhere/__init__.py')!r})\n"
        "sys.meta_path.append(Finder)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    rig = project / "play.toml"
    rig.write_text(rig.read_text().replace("blocks/backlash.toml", "lab/backlash"))
    checked = rigloop("check", rig)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("blocks/backlash.toml", "blocks/none.toml", "none.toml: (file)"),
        ("blocks/backlash.toml", "backlash", "unknown kind"),
        ("blocks/backlash.toml", "/etc/passwd.toml", "No such file"),
        ("gap = 0.1", "gap = -0.1", "blocks.gear.gap"),
        ("gap = 0.1", "gaps = 0.1", "did you mean 'gap'"),
        ('u = "motor/y"', 'x = "motor/y"', "no such port"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(rigloop_here, project, old, new, said):
    rig = project / "play.toml"
    rig.write_text(rig.read_text().replace(old, new))
    done = rigloop_here("check", rig)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_all_mistakes_of_a_declaration_are_said_at_once(rigloop_here, project):
    declaration = project / "blocks" / "backlash.toml"
    text = declaration.read_text().replace('unit = "any"', 'units = "any"')
    declaration.write_text(text.replace("least = 0.0", "smallest = 0.0"))
    rig = project / "play.toml"
    rig.write_text(rig.read_text().replace("period_us = 1000", "period_us = 1"))
    done = rigloop_here("check", rig)
    assert done.returncode == 2
    for words in ("inputs.u.units", "inputs.u.unit: missing", "smallest", "tasks.main.period_us"):
        assert words in done.stderr, words
    assert "unknown kind" not in done.stderr


def test_an_error_of_the_compiler_names_the_line_of_the_source(rigloop, project):
    source = project / "blocks" / "backlash.c"
    source.write_text(source.read_text().replace("s->y = in->u;", "s->z = in->u;"))
    done = rigloop("run", project / "play.toml", "--trust", "--runs", project / "runs")
    assert done.returncode == 3
    assert re.search(r"backlash\.c:\d+", done.stderr)
    assert not (project / "runs").exists()


def test_a_step_that_never_ends_is_ended_from_outside(run_to_end, project, tmp_path):
    source = project / "blocks" / "backlash.c"
    source.write_text(
        source.read_text().replace(
            "const double half",
            "for (volatile int i = 0; s->y == s->y; i = 1 - i);\n    const double half",
        )
    )
    rig = project / "play.toml"
    rig.write_text(rig.read_text().replace("stall_cycles = 5000", "stall_cycles = 200"))
    done = run_to_end(rig, tmp_path / "runs", "--for", "5", "--trust")
    assert done.code == 1
    assert "stalled" in " ".join(done.outcome["reasons"])
