"""`rigloop install-service`: a unit for systemd, printed, or written for this user or the whole machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from io_bridge.doorway.local_socket import SYSTEM_FOLDER
from rigloop.console.answers import Exit, errors_as_lines, fail
from rigloop.console.screen import say

WATCHDOG_S = 10
STOP_S = 90  # ramp-out, verdicts and reports of all rigs
PRIORITY = 99
CAPABILITIES = "CAP_SYS_NICE CAP_NET_RAW CAP_IPC_LOCK"
SYSTEM = Path("/etc/systemd/system")


def install_service(
    rigs: Annotated[
        list[str], typer.Argument(help="Names of shipped rigs, or paths of rig files.")
    ],
    name: Annotated[
        str | None, typer.Option(help="Name of the service; by default the name of the first rig.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder in which run folders are made.")] = Path(
        "runs"
    ),
    tcp: Annotated[str | None, typer.Option(help="As for `rigloop serve`.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the unit, and write nothing.")
    ] = False,
    user: Annotated[
        bool,
        typer.Option(
            "--user",
            help="Install for this user's systemd; by default for the machine, which "
            "needs root rights.",
        ),
    ] = False,
) -> None:
    """Install rigs as a systemd service with watchdog, rights and limits. The service never arms when it starts."""
    from io_bridge.doorway.local_socket import DoorError, local_endpoint
    from rig_configs.plain import file_name, is_shown
    from rigloop.compose.wiring import load

    with errors_as_lines(json=False):
        loaded = [load(rig) for rig in rigs]
    called = name if name is not None else file_name(loaded[0].name, "rig")
    try:
        local_endpoint(called)
    except DoorError as error:
        fail([str(error)], Exit.WRONG_INPUT, False)
    # paths hold wherever systemd stands; a rig that ships is named
    places = [one.name if one.argument == one.name else str(one.path.absolute()) for one in loaded]
    options = ["--name", called, "--runs", str(runs.absolute())]
    options += ["--tcp", tcp] if tcp is not None else []
    command = [sys.executable, "-P", "-m", "rigloop", "serve", *places, *options]
    if unseen := [word for word in command if not all(map(is_shown, word))]:
        remedy = "has a line break or a control character, which no unit can hold: rename it"
        fail([f"{word!r}: {remedy}" for word in unseen], Exit.WRONG_INPUT, False)
    text = unit_of(called, command, user)
    file = f"rigloop-{called}.service"
    doubts = doubts_of(text, file, user=user)
    if dry_run:
        say(text.rstrip("\n"))
    else:
        say(f"{_written(text, file, user)}: written; {_next(file, user)}")
    for words in doubts:
        say(f"systemd-analyze: {words}", err=True)
    raise typer.Exit(int(Exit.BAD_VERDICT if doubts else Exit.GOOD))


def unit_of(name: str, command: list[str], user: bool) -> str:
    """Return the text of a unit."""
    whose = "" if user else f"User={os.environ.get('SUDO_USER') or _user()}\n"
    folder = f"{SYSTEM_FOLDER}{name}"
    runtime = "" if user else f"RuntimeDirectory={folder}\nRuntimeDirectoryMode=0700\n"
    place = "" if user else f"Environment=XDG_RUNTIME_DIR=%t/{folder}\n"
    # a manager of a user hands on only what that user has
    rights = f"AmbientCapabilities={CAPABILITIES}\nCapabilityBoundingSet={CAPABILITIES}\n"
    return f"""\
[Unit]
Description=rigloop {name}
Documentation=man:systemd.service(5)

[Service]
Type=notify
NotifyAccess=main
ExecStart={" ".join(map(_quoted, command))}
WatchdogSec={WATCHDOG_S}
Restart=on-failure
RestartSec=5
TimeoutStopSec={STOP_S}
# runs end by themselves when the service has ended, ramp out and keep their record: nobody kills them before
KillMode=process
{whose}{runtime}{place}{"" if user else rights}LimitRTPRIO={PRIORITY}
LimitMEMLOCK=infinity
UMask=0077
NoNewPrivileges=yes
Environment=PYTHONUNBUFFERED=1

[Install]
WantedBy={"default.target" if user else "multi-user.target"}
"""


def doubts_of(text: str, file: str, *, user: bool) -> list[str]:
    """Return what `systemd-analyze verify` says of a unit; nothing where there is no such command."""
    command = shutil.which("systemd-analyze")
    if command is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_text(text)
        try:
            done = subprocess.run(
                [command, *(["--user"] if user else []), "verify", "--man=no", str(path)],
                capture_output=True,
                text=True,
                timeout=30,
            )
        except (OSError, subprocess.TimeoutExpired):
            return []
    # what is about other units of the machine is not meant
    return [one for one in done.stderr.splitlines() if file in one]


def _written(text: str, file: str, user: bool) -> Path:
    if user:
        given = os.environ.get("XDG_CONFIG_HOME", "")
        base = Path(given) if given.startswith("/") else Path.home() / ".config"
        folder = base / "systemd" / "user"
    else:
        folder = SYSTEM
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    except OSError as error:
        fail(
            [
                f"{folder / file}: cannot be written: {error.strerror}; give --user, or run it as root"
            ],
            Exit.NOT_STARTED,
            False,
        )
    return folder / file


def _next(file: str, user: bool) -> str:
    manager = "systemctl --user" if user else "systemctl"
    return f"`{manager} daemon-reload && {manager} enable --now {file}`"


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _quoted(word: str) -> str:
    """Return a word as systemd reads it in a command line."""
    harmless = word.replace("%", "%%").replace("$", "$$")
    if harmless and not set(harmless) & set(" \t\"'\\;"):
        return harmless
    return '"' + harmless.replace("\\", "\\\\").replace('"', '\\"') + '"'
