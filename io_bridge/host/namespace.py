"""Run a command in a network namespace of its own with a veth pair in it: real frames without
touching the host.

Root uses a plain network namespace; an ordinary user gets one inside a user namespace, where the
kernel allows it.

python -m io_bridge.host.namespace [--pair veth0 veth1 ...] -- COMMAND...
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence


def pair(number: int) -> tuple[str, str]:
    """Return the names of the two ends of a virtual cable: veth0 and veth1, veth2 and veth3, ...."""
    return f"veth{2 * number}", f"veth{2 * number + 1}"


PAIR, SECOND_PAIR = pair(0), pair(1)  # the second one for a master with cable redundancy

_PROBE = """
import socket
from io_bridge.host.namespace import create_pair
create_pair("veth0", "veth1")
socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
"""


def _unshare() -> list[str]:
    flags = ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]
    # the child dies with its parent, and the namespace with the child
    return ["unshare", *flags, "--fork", "--kill-child"]


def _path() -> str:
    """Return PATH with the places where `ip` lives though an ordinary user's PATH may lack them."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def has_tool(name: str) -> bool:
    """Return whether a system command is installed, also outside an ordinary user's PATH."""
    return shutil.which(name, path=_path()) is not None


@functools.cache
def why_not() -> str | None:
    """Return why no namespace with a veth pair and raw sockets can be had here, or None when it
    can."""
    for tool, package in (("unshare", "util-linux"), ("ip", "iproute2")):
        if not has_tool(tool):
            return f"the command {tool!r} is missing (package {package})"
    probe = subprocess.run(
        [*_unshare(), sys.executable, "-P", "-c", _PROBE],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PATH": _path()},
    )
    if probe.returncode == 0:
        return None
    said = probe.stderr.strip().splitlines() or [f"exit status {probe.returncode}"]
    who = "root" if os.geteuid() == 0 else "an ordinary user (are user namespaces allowed?)"
    return f"the kernel refuses a network namespace with a veth pair to {who}: {said[-1]}"


def create_pair(first: str, second: str) -> None:
    """Create a veth pair and bring both ends up, without any address.

    Raises
    ------
    RuntimeError
        The error text of `ip`.
    """
    for command in (
        ["link", "add", first, "type", "veth", "peer", "name", second],
        ["link", "set", first, "addrgenmode", "none"],
        ["link", "set", second, "addrgenmode", "none"],
        ["link", "set", first, "up"],
        ["link", "set", second, "up"],
    ):
        done = subprocess.run(
            ["ip", *command], capture_output=True, text=True, env={**os.environ, "PATH": _path()}
        )
        if done.returncode:
            raise RuntimeError(f"ip {' '.join(command)}: {done.stderr.strip()}")


def wrap(command: Sequence[str], *pairs: tuple[str, str]) -> list[str]:
    """Return the command line that runs `command` in a fresh namespace with pairs in it; `PAIR` if none is
    given."""
    given = [part for pair in pairs or (PAIR,) for part in ("--pair", *pair)]
    inner = [sys.executable, "-P", "-m", "io_bridge.host.namespace", *given, "--", *command]
    return [*_unshare(), *inner]


def main(arguments: Sequence[str] | None = None) -> int:
    """Create the pairs in the present namespace and become the command."""
    import argparse  # only here: the cycle process imports this module, and is in a hurry

    parser = argparse.ArgumentParser(prog="io_bridge.host.namespace", description=__doc__)
    parser.add_argument("--pair", nargs=2, action="append", metavar=("FIRST", "SECOND"))
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    try:
        for pair in options.pair or [PAIR]:
            create_pair(*pair)
        os.execvp(options.command[0], options.command)
    except (OSError, RuntimeError) as error:
        print(f"namespace: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
