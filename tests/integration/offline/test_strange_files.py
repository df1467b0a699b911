"""Each command that takes a file, and what is there in place of one: a clear verdict, and never a traceback.

Every third pair of command and file is tried; all with `pytest --every-strange-file` (a minute and a half).
"""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rig_configs.load import HERE
from rigloop.cli import app

DATA = Path(__file__).parents[2] / "data"
RIG = HERE / "rigs" / "steering_wheel.toml"
MECHANISM = HERE / "mechanisms" / "four_bar.toml"
LOG = sorted((DATA / "logs").glob("*.csv*"))[0]
MAPPING = HERE / "logs" / "phobos_limtoc_k10.toml"
ROBOT = sorted((DATA / "robots").glob("*.urdf"))[0]
ESI = sorted((DATA / "esi").glob("*.xml"))[0]
SECONDS = 60
pytestmark = pytest.mark.slow

COMMANDS = {
    "run": (["run", "{}", "--for", "0.1"], RIG),
    "check": (["check", "{}"], RIG),
    "doctor": (["doctor", "{}"], RIG),
    "faults": (["faults", "{}"], RIG),
    "soak": (["soak", "{}", "--for", "10"], RIG),
    "replay": (["replay", "{}", "--rig", "steering_wheel"], LOG),
    "replay-rig": (["replay", str(LOG), "--rig", "{}"], RIG),
    "replay-mapping": (["replay", str(LOG), "--mapping", "{}"], MAPPING),
    "report": (["report", "{}"], None),
    "bus": (["bus", "{}"], None),
    "identify": (["identify", "{}"], LOG),
    "identify-mapping": (["identify", str(LOG), "--mapping", "{}"], MAPPING),
    "tune": (["tune", "--log", "{}"], LOG),
    "model-show": (["model", "show", "{}"], MECHANISM),
    "model-show-run": (["model", "show", "four_bar", "-o", "x.gif", "--run", "{}"], None),
    "model-check": (["model", "check", "{}"], MECHANISM),
    "model-generate": (["model", "generate", "{}", "-o", "made"], MECHANISM),
    "model-import": (["model", "import", "{}", "-o", "made.toml"], ROBOT),
    "sim-segment": (["sim-segment", "--interface", "nowhere0", "{}"], ESI),
    "scan-esi": (["scan", "nowhere0", "--esi", "{}"], ESI),
}
READS_NO_ESI_WITHOUT_A_CARD = ("scan-esi",)


def good(path, source):
    path.write_bytes(source.read_bytes() if source else b"x = 1\n")


def numbers(path, source):
    """A good file with numbers that nothing can calculate with."""
    text = source.read_text(errors="replace") if source else "x = 1.0"
    made = text.replace(".0", ".0e300").replace("0.0", "nan")
    path.write_text(made)


def link_to(target):
    return lambda path, source: path.symlink_to(target)


def sparse(path, source):
    with path.open("wb") as file:
        file.truncate(1 << 42)


STRANGE = {
    "missing": lambda path, source: None,
    "empty": lambda path, source: path.write_bytes(b""),
    "spaces": lambda path, source: path.write_bytes(b" \n\t\r\n"),
    "binary": lambda path, source: path.write_bytes(np.random.default_rng(1).bytes(5000)),
    "zeros": lambda path, source: path.write_bytes(bytes(100_000)),
    "utf-16": lambda path, source: path.write_text("\ufeffx = 1\n", "utf-16"),
    "bom": lambda path, source: path.write_bytes(b"\xef\xbb\xbf[x\n"),
    "latin-1": lambda path, source: path.write_bytes("title = 'é'\n".encode("latin-1")),
    "brackets": lambda path, source: path.write_bytes(b"[" * 500_000),
    "braces": lambda path, source: path.write_bytes(b"a = " + b"{a = " * 20_000),
    "dots": lambda path, source: path.write_bytes(b"a" + b".a" * 50_000 + b" = 1\n"),
    "tags": lambda path, source: path.write_bytes(b"<a>" * 200_000),
    "commas": lambda path, source: path.write_bytes(b"," * 500_000),
    "lines": lambda path, source: path.write_bytes(b"\n" * 500_000),
    "json": lambda path, source: path.write_bytes(b'{"a": 1}'),
    "escape": lambda path, source: path.write_bytes(b"\x1b]0;x\x07 = 1\n"),
    "folder": lambda path, source: path.mkdir(),
    "pipe": lambda path, source: os.mkfifo(path),
    "loop": lambda path, source: path.symlink_to(path),
    "dangling": link_to("nothing"),
    "zero": link_to("/dev/zero"),
    "terminal": link_to("/dev/ptmx"),
    "kernel messages": link_to("/proc/kmsg"),
    "memory": link_to("/proc/self/mem"),
    "root": link_to("/"),
    "sparse": sparse,
    "numbers": numbers,
}


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def alarm(*_):
        raise TimeoutError(f"longer than {SECONDS} s")

    def call(words, path):
        before = signal.signal(signal.SIGALRM, alarm)
        signal.alarm(SECONDS)
        try:
            return CliRunner().invoke(app, [word.replace("{}", str(path)) for word in words])
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    return call


def named(path, source):
    return path.with_suffix(source.suffix if source else "")


def judge(result, path, command):
    said = result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (1, 2, 3), (result.exit_code, said)
    assert "Traceback" not in said
    assert "\x1b" not in said
    assert len(said) < 20_000
    if command not in READS_NO_ESI_WITHOUT_A_CARD:
        assert path.name in said.replace("\n", ""), said


def pytest_generate_tests(metafunc):
    if {"command", "strange"} <= set(metafunc.fixturenames):
        every = 1 if metafunc.config.getoption("--every-strange-file") else 3
        pairs = [
            (command, strange)
            for i, command in enumerate(COMMANDS)
            for j, strange in enumerate(STRANGE)
            if (i + j) % every == 0
        ]
        metafunc.parametrize(("command", "strange"), pairs)


def test_a_strange_file_gets_a_clear_verdict(tmp_path, call, command, strange):
    words, source = COMMANDS[command]
    path = named(tmp_path / "strange", source)
    STRANGE[strange](path, source)
    before = sorted(tmp_path.iterdir())
    judge(call(words, path), path, command)
    # nothing half-started
    assert [p for p in sorted(tmp_path.iterdir()) if p.name != "runs"] == before
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.parametrize("name", ["n" * 300, "x/" * 3000 + "x", "a\x1b[31mb", "a b", "é\u202e"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_strange_name_gets_a_clear_verdict(tmp_path, call, command, name):
    words, source = COMMANDS[command]
    path = f"{name}{source.suffix if source else ''}"
    result = call(words, path)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (1, 2, 3)
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert not list(tmp_path.iterdir())
