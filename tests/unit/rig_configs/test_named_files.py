"""What a rig names is found from the rig's own folder, is a file, and goes along with a run."""

import os
import shutil
from pathlib import Path

import pytest

from codegen.description.mechanism import MECHANISMS
from rig_configs.bounded import UnreadableError, read_text
from rig_configs.load import HERE
from rig_configs.mistakes import ConfigError
from rig_configs.named_files import keep_named
from rigloop.blocks.checked import read_checked
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load

RIG = (HERE / "rigs" / "steering_wheel.toml").read_text()
SMALL = MECHANISMS / "steering_26.toml"


@pytest.fixture
def project(tmp_path):
    """A project with a rig that names ../mechanisms/own.toml."""
    for name in ("rigs", "mechanisms", "elsewhere"):
        (tmp_path / name).mkdir()
    text = SMALL.read_text().replace('name = "steering_26"', "")
    (tmp_path / "mechanisms" / "own.toml").write_text(text)
    naming(tmp_path, "../mechanisms/own.toml")
    return tmp_path


def naming(project, mechanism):
    path = project / "rigs" / "own.toml"
    path.write_text(RIG.replace('"steering_26"', f'"{mechanism}"'))
    return path


@pytest.mark.parametrize("place", [".", "rigs", "elsewhere"])
def test_a_mechanism_is_found_from_wherever_one_stands(project, monkeypatch, place):
    monkeypatch.chdir(project / place)
    loaded = load(os.path.relpath(project / "rigs" / "own.toml"))
    named = loaded.rig.blocks["steering"].mechanism
    assert os.path.samefile(named, project / "mechanisms" / "own.toml")


def test_a_path_from_where_one_stands_still_holds(project, monkeypatch):
    monkeypatch.chdir(project)
    load(str(naming(project, "mechanisms/own.toml")))


def run_folder_of(project):
    loaded = load(str(project / "rigs" / "own.toml"))
    run = project / "runs" / "one"
    run.mkdir(parents=True)
    (run / "rig.toml").write_text(loaded.text)
    keep_named(run, loaded.files)
    (run / "order.json").write_text("{}")
    return loaded, run


def test_a_run_takes_its_mechanism_along(project, monkeypatch):
    loaded, run = run_folder_of(project)
    shutil.rmtree(project / "mechanisms")
    sent = project / "elsewhere" / "sent"
    shutil.move(run, sent)
    for again in (load(str(sent / "rig.toml")), read_checked(sent / "rig.toml")):
        assert again.sha256 == loaded.sha256
        assert str(sent) in again.rig.blocks["steering"].mechanism


@pytest.mark.slow
def test_a_run_that_was_sent_away_has_the_same_kernel(project):
    loaded, run = run_folder_of(project)
    here = build_kernels(loaded)["steering"].hash
    there = build_kernels(read_checked(run / "rig.toml"))["steering"]
    assert (there.hash, there.from_cache) == (here, True)


def test_a_run_folder_names_no_file_elsewhere(project):
    run = run_folder_of(project)[1]
    shutil.rmtree(run / "named_files")
    # it is where the rig says, seen from the run folder, and is not taken
    (project / "runs" / "mechanisms").mkdir()
    shutil.copy(project / "mechanisms" / "own.toml", project / "runs" / "mechanisms")
    for name in ("../mechanisms/own.toml", str(project / "mechanisms" / "own.toml")):
        (run / "rig.toml").write_text(RIG.replace('"steering_26"', f'"{name}"'))
        with pytest.raises(ConfigError, match=r"named_files.*no such mechanism file"):
            load(str(run / "rig.toml"))


def test_two_files_of_one_name_are_two(project):
    keep_named(project, {})
    (project / "a").mkdir()
    (project / "a" / "own.toml").write_text("a = 1")
    files = {"a/own.toml": str(project / "a" / "own.toml")}
    files["../own.toml"] = str(project / "mechanisms" / "own.toml")
    keep_named(project / "elsewhere", files)
    assert len(list((project / "elsewhere").rglob("own.toml"))) == 2


@pytest.mark.parametrize(
    "name",
    [
        "/dev/zero",
        "/dev/tty",
        "/etc/passwd",
        "/proc/self/environ",
        "../../x",
        "x/" * 100 + "x.toml",
    ],
)
def test_what_is_no_mechanism_file_is_not_opened(project, name):
    with pytest.raises(ConfigError, match=r"no such mechanism file; give a \.toml|from the rig"):
        load(str(naming(project, name)))


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("pipe", "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
        ("/proc/kmsg", "is not a regular file|Permission denied"),
        ("/proc/self/environ", "is not a regular file"),
        ("/sys/kernel/uevent_seqnum", "is not a regular file"),
        ("folder", "is not a regular file|directory"),
        ("loop", "symbolic links|no such mechanism"),
        ("dangling", "no such mechanism"),
        ("sparse", "is larger than"),
    ],
)
def test_a_link_to_what_is_no_file_of_a_user_is_refused(project, target, problem):
    mechanism = project / "mechanisms" / "own.toml"
    mechanism.unlink()
    if target == "pipe":
        os.mkfifo(mechanism)
    elif target == "folder":
        mechanism.mkdir()
    elif target == "loop":
        mechanism.symlink_to(mechanism)
    elif target == "sparse":
        with mechanism.open("wb") as file:
            file.truncate(1 << 40)
    else:
        mechanism.symlink_to(target)
    with pytest.raises(ConfigError, match=problem) as caught:
        load(str(project / "rigs" / "own.toml"))
    assert len(caught.value.mistakes) == 1


def test_a_link_to_a_file_of_the_same_user_is_followed(project):
    mechanism = project / "mechanisms" / "own.toml"
    moved = project / "elsewhere" / "own-v2.toml"
    mechanism.rename(moved)
    mechanism.symlink_to(moved)
    load(str(project / "rigs" / "own.toml"))


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert read_text(path) == "x = 1\r\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf_16_is_named(tmp_path, encoding):
    path = tmp_path / "a.toml"
    path.write_bytes("\ufeffx = 1".encode(encoding))
    with pytest.raises(UnreadableError, match="UTF-16"):
        read_text(path)


def of_device(project, device):
    path = project / "rigs" / "rack.toml"
    path.write_text(
        RIG.replace(
            "# what the simulated drive turns",
            f'[blocks.bus.terminals.rack]\ndevice = "{device}"\n\n# what the simulated drive turns',
        )
    )
    return path


@pytest.mark.parametrize(
    ("file", "rest"),
    [
        ("own.xml", ""),
        ("own.xml", "#0x2:0x1+late_reply:ms=200"),
        ("OWN v1.2.XML", "#EL1008"),
        ("own.toml", ""),
        ("own.toml", "+late_reply:ms=200+emergency"),
        ("1e+3.toml", ""),
    ],
)
@pytest.mark.parametrize("place", [".", "rigs", "elsewhere"])
def test_a_device_is_found_from_the_folder_of_its_rig_and_goes_along(
    project, monkeypatch, file, rest, place
):
    monkeypatch.chdir(project / place)
    (project / "devices").mkdir()
    # an ESI file says its encoding itself
    (project / "devices" / file).write_bytes(
        b"caf\xe9" if file.lower().endswith("xml") else b"a = 1"
    )
    loaded = read_checked(of_device(project, f"../devices/{file}{rest}"))
    named = loaded.rig.blocks["bus"].terminals["rack"].device
    assert named.endswith(file + rest)
    assert os.path.samefile(named.removesuffix(rest), project / "devices" / file)
    run = project / "runs" / "one"
    run.mkdir(parents=True)
    (run / "rig.toml").write_text(loaded.text)
    keep_named(run, loaded.files)
    (run / "order.json").write_text("{}")
    kept = read_checked(run / "rig.toml").rig.blocks["bus"].terminals["rack"].device
    assert kept.startswith(str(run))
    copy = Path(kept.removesuffix(rest))
    assert copy.read_bytes() == (project / "devices" / file).read_bytes()


def test_a_device_that_ships_is_no_file(project):
    loaded = read_checked(of_device(project, "digital_io+late_reply:ms=200"))
    assert loaded.rig.blocks["bus"].terminals["rack"].device == "digital_io+late_reply:ms=200"
    assert not any("digital_io" in name for name in loaded.files)
