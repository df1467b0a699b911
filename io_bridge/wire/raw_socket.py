"""Raw sockets on a network interface: one right, one sentence where it is missing."""

from __future__ import annotations

import socket


def raw_socket(interface: str) -> socket.socket:
    """Open a raw socket that is not bound yet; nothing comes in before it is.

    Parameters
    ----------
    interface : str
        For the message.

    Raises
    ------
    PermissionError
        No CAP_NET_RAW; the message says how to get it.
    """
    try:
        return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    except PermissionError as error:
        raise PermissionError(
            f"interface {interface!r}: a raw socket needs CAP_NET_RAW "
            "(run as root, or: sudo setcap cap_net_raw+ep on the Python executable)"
        ) from error
