"""The file of a local socket: in the user's runtime folder, which nobody else may enter."""

from __future__ import annotations

import os
import re
import socket
import stat
from pathlib import Path

from rig_configs.plain import line

IPC = "ipc://"
LONGEST = 107  # bytes of the path of a socket
TCP = re.compile(r"tcp://[^\s/]+:([0-9]{1,5})")
MOST_PORT = 65535
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
ENDING = ".sock"
PROBE_S = 1.0
SYSTEM_FOLDER = "rigloop-"  # in /run, where the system's service manager starts a service


class DoorError(OSError):
    """A socket that cannot be, or that others could reach; the message says which and what to do."""


def runtime_folder() -> Path:
    """Return the folder of this user's sockets; it need not be there."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(given) if given.startswith("/") else Path(f"/run/user/{os.getuid()}")
    if base.is_dir():
        return base / "rigloop"
    return Path("/dev/shm") / f"rigloop-{os.getuid()}-services"


def private_folder(folder: Path) -> Path:
    """Make a folder, or check one: its owner is this user, and nobody else may look into it.

    Raises
    ------
    DoorError
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(folder)
    except OSError as error:
        raise DoorError(f"{folder}: cannot be made: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise DoorError(f"{folder}: is not a folder, and has to be one of your own")
    if found.st_uid != os.getuid():
        raise DoorError(f"{folder}: belongs to user {found.st_uid}, and has to be your own")
    if found.st_mode & 0o077:
        raise DoorError(
            f"{folder}: others may enter it (mode {stat.S_IMODE(found.st_mode):o}); chmod 700 {folder}"
        )
    return folder


def local_endpoint(name: str) -> str:
    """Return the endpoint of a service by its name.

    Raises
    ------
    DoorError
        It is no name of a service.
    """
    if not NAME.fullmatch(name):
        raise DoorError(
            f"{name!r}: a service is named with letters, digits, '-', '_' and '.', 64 at most"
        )
    path = str(runtime_folder() / f"{name}{ENDING}")
    if len(os.fsencode(path)) > LONGEST:
        raise DoorError(f"{path}: longer than {LONGEST} bytes; give a shorter --name")
    return f"{IPC}{path}"


def checked_endpoint(endpoint: str) -> str:
    """Return an endpoint that a service may have.

    Raises
    ------
    DoorError
        It is none.
    """
    path = endpoint.removeprefix(IPC)
    is_file = path != endpoint and path.startswith("/") and len(os.fsencode(path)) <= LONGEST
    found = TCP.fullmatch(endpoint)
    if not is_file and not (found and 0 < int(found[1]) <= MOST_PORT):
        raise DoorError(
            f"{line(endpoint)!r}: is no address of a service: give its name, tcp://HOST:PORT, or ipc:///PATH of at "
            f"most {LONGEST} bytes"
        )
    return endpoint


def found_endpoint(name: str) -> str:
    """Return the endpoint of a service that runs, of this user or of the system's service manager, by its name.

    Raises
    ------
    DoorError
        It is no name of a service.
    """
    endpoint = local_endpoint(name)
    by_the_system = Path(f"/run/{SYSTEM_FOLDER}{name}") / "rigloop" / f"{name}{ENDING}"
    is_here = Path(endpoint.removeprefix(IPC)).exists()
    return f"{IPC}{by_the_system}" if not is_here and by_the_system.exists() else endpoint


def services() -> list[str]:
    """Return the names of this user's services that run."""
    found = runtime_folder().glob(f"*{ENDING}")
    return sorted(path.name.removesuffix(ENDING) for path in found if is_served(path))


def is_served(path: Path) -> bool:
    """Decide if a service listens at a socket; one that was killed leaves its file."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # it takes nobody in now, or not this user
            return True
    return True
