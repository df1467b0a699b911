"""Refusals before anything is started, of faults that would end a part of the run later."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rigloop.compose.parts import EMULATED
from rigloop.compose.unsaid_times import unsaid_times
from rigloop.run_folder.not_started import NotStartedError


def check_telemetry(endpoint: str) -> None:
    """Refuse an endpoint that cannot be, that others may listen to, or that another process has.

    Raises
    ------
    ConfigError
        It is no local endpoint.
    NotStartedError
        It cannot be had.
    """
    from io_bridge.recording.telemetry import EndpointError, check_endpoint

    try:
        check_endpoint(endpoint)
    except EndpointError as error:
        mistake = Mistake("command line", "--telemetry", str(error), value=endpoint)
        raise ConfigError([mistake]) from None
    parts = urlsplit(endpoint)
    if parts.scheme != "tcp":
        return
    host, _, port = parts.netloc.rpartition(":")
    try:
        number = int(port)
        family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # as ZeroMQ binds: a connection that has ended does not keep the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host.strip("[]"), number))
    except (ValueError, OverflowError):
        problem = "no port from 0 to 65535"
        mistake = Mistake("command line", "--telemetry", problem, value=endpoint)
        raise ConfigError([mistake]) from None
    except OSError as error:
        why = (
            "another process has this port; take another one"
            if error.errno == errno.EADDRINUSE
            else error.strerror
        )
        raise NotStartedError(f"--telemetry {endpoint}: {why}") from None


def check_wheel(
    loaded: LoadedRig, backends: Mapping[str, str], tell: Callable[[str], None]
) -> tuple[str, ...]:
    """Refuse a rig whose wheel would sing in somebody's hands, or whose guards have times that nobody has chosen;
    return what else is to be said of its haptic loop.

    An emulated wheel may sing: there it can be looked at.

    Raises
    ------
    ConfigError
        It would sing, and the mistake names the gain that would do; or a guard's `preset` is missing.
    """
    if all(backend in EMULATED for backend in backends.values()):
        return ()
    if mistakes := unsaid_times(loaded, backends):
        raise ConfigError(mistakes)
    from rigloop.haptic.check import examine_loop

    found = examine_loop(loaded, tell)
    if found.mistakes:
        raise ConfigError(found.mistakes)
    return found.notes
