import os
import subprocess
import sys

import pytest
from small_disk import with_small_disk

from rigloop.doctor import software
from rt_core.doctor.check import Demands, Level
from rt_core.host.facts import Host


def said(check, env, before):
    code = (
        "from rigloop.doctor import software as s; from rt_core.doctor.check import Demands\n"
        f"from rt_core.host.facts import Host\n{before}\ncheck = s.{check}(Host(), Demands())\n"
        "print(check.level.value, check.found, check.remedy, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | (env or {}),
    )
    assert done.returncode == 0, done
    return done.stdout.splitlines()


def installed(folder, name, *files):
    """Install a distribution by hand: its files, and the record that names them."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("")
    return folder


def test_our_own_installation_is_green():
    check = software.package_names(Host(), Demands())
    assert check.level is Level.GREEN, check


@pytest.mark.parametrize("file", ["codegen/thing.py", "estimators/deep/thing.py", "codegen.py"])
def test_another_distribution_with_our_name_is_red(monkeypatch, tmp_path, file):
    room = file.partition("/")[0].removesuffix(".py")
    monkeypatch.syspath_prepend(installed(tmp_path, f"{room}-other", file))
    check = software.package_names(Host(), Demands())
    assert check.level is Level.RED
    assert check.found == f"{room} is also in {room}-other"
    assert f"-m pip uninstall -y {room}-other && " in check.remedy


def test_a_package_that_hides_ours_is_red(tmp_path):
    # no distribution, only a folder that comes first
    (tmp_path / "estimators").mkdir()
    (tmp_path / "estimators" / "__init__.py").write_text("")
    # an editable installation looks for its own packages before any folder: as if it were none
    before = (
        "import sys; from pathlib import Path; import rigloop\n"
        "sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in type(f).__module__]\n"
        "sys.path.append(str(Path(rigloop.__file__).parents[1]))"
    )
    level, found, remedy = said("package_names", {"PYTHONPATH": str(tmp_path)}, before)
    assert level == "red"
    assert found.startswith(f"estimators in {tmp_path}, not in ")
    assert remedy.startswith("unset PYTHONPATH")


def test_a_package_that_was_deleted_is_red(monkeypatch):
    monkeypatch.setattr(software, "ROOMS", (*software.ROOMS, "rt_core_that_is_gone"))
    check = software.package_names(Host(), Demands())
    assert (check.level, check.found) == (Level.RED, "missing: rt_core_that_is_gone")


def test_the_compiler_of_this_machine_reads_the_headers():
    assert software.compiler(Host(), Demands()).level is Level.GREEN


def test_a_missing_compiler_is_red(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -O1")
    check = software.compiler(Host(), Demands())
    assert (check.level, check.found) == (Level.RED, "no no-such-compiler")
    assert check.remedy.startswith("sudo apt install gcc python3-dev")


def test_missing_headers_are_red_with_what_the_compiler_says(monkeypatch, tmp_path):
    monkeypatch.setattr(software.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    check = software.compiler(Host(), Demands())
    assert check.level is Level.RED
    assert "Python.h" in check.found


def test_a_compiler_that_cannot_run_is_red(monkeypatch, tmp_path):
    broken = tmp_path / "cc"
    broken.write_text("#!/nowhere/sh\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    assert software.compiler(Host(), Demands()).level is Level.RED


def test_a_cache_below_a_file_is_red(monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    check = software.kernel_cache(Host(), Demands())
    assert (check.level, check.found) == (Level.RED, f"{tmp_path}/cache cannot be written")
    assert check.remedy.startswith("export XDG_CACHE_HOME=")


def test_a_cache_that_is_still_to_be_made_is_green(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new" / "place"))
    assert software.kernel_cache(Host(), Demands()).level is Level.GREEN
    assert not (tmp_path / "new").exists()


@pytest.mark.netns
def test_a_full_cache_is_amber(tmp_path):
    code = (
        "from rigloop.doctor import software as s; from rt_core.doctor.check import Demands\n"
        "from rt_core.host.facts import Host; check = s.kernel_cache(Host(), Demands())\n"
        "print(check.level.value, check.found)"
    )
    said = with_small_disk(tmp_path, code, XDG_CACHE_HOME=str(tmp_path))
    assert said.startswith("amber ")
    assert said.endswith("1 MiB left\n")
    assert not any(tmp_path.iterdir())
