"""Causes of late frames: missing rights to send them, and settings of the network card.

Checks in the form of `rt_core.doctor`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from io_bridge.host import ethtool, namespace
from rt_core.doctor.check import Check, Demands, Level, Topic, by_severity, words
from rt_core.host.facts import Host

RAW_SOCKETS = Topic("raw sockets", "EtherCAT frames are sent and received below IP")
NAMESPACES = Topic("network namespace", "the bus `veth` has its pair of interfaces in one")
MASTER = Topic("EtherCAT master", "pysoem scans a bus, and brings its drives to OP")
INTERFACE = Topic("network card", "the bus needs a card with a link, and needs it exclusively")
INTERRUPTS = Topic(
    "card interrupts", "a received frame waits for the core that serves the card's interrupt"
)
COALESCING = Topic(
    "card coalescing", "a card that collects frames delays the only frame of a cycle"
)
OFFLOADS = Topic(
    "card offloads", "a card that merges received frames delays each frame until no other follows"
)

NO_CARD = "no network card in use; `--bus IFACE` looks at one"


def raw_sockets(host: Host, demands: Demands) -> Check:
    """Open one and close it, where a bus may need it."""
    if demands.veth is not None and not demands.cards:
        return RAW_SOCKETS.green("not tried: this rig needs none of the host's")
    remedy = (
        "sudo setcap cap_net_raw,cap_net_admin,cap_sys_nice,cap_ipc_lock+ep "
        f"{Path(sys.executable).resolve()}"
    )
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError as error:
        found = f"refused: {error.strerror}"
        return (RAW_SOCKETS.red if demands.cards else RAW_SOCKETS.amber)(found, remedy)
    return RAW_SOCKETS.green("granted")


def network_namespace(host: Host, demands: Demands) -> Check:
    """Make one with a pair in it, where a run may need it."""
    if demands.veth is False:
        return NAMESPACES.green("not tried: this rig needs none")
    reason = namespace.why_not()
    if reason is None:
        return NAMESPACES.green("granted, with a veth pair in it")
    return (NAMESPACES.red if demands.veth else NAMESPACES.amber)(reason, _allow_namespaces(host))


def _allow_namespaces(host: Host) -> str:
    if not all(namespace.has_tool(tool) for tool in ("unshare", "ip")):
        return "sudo apt install util-linux iproute2"
    wrong = {"kernel.unprivileged_userns_clone": (0, 1), "user.max_user_namespaces": (0, 10000),
             "kernel.apparmor_restrict_unprivileged_userns": (1, 0)}  # fmt: skip
    settings = [
        f"{key}={good}"
        for key, (bad, good) in wrong.items()
        if host.number(f"/proc/sys/{key.replace('.', '/')}") == bad
    ]
    if settings:
        return f"sudo sysctl -w {' '.join(settings)}"
    return "# run as root, in a container with --cap-add SYS_ADMIN --cap-add NET_ADMIN"


def master(host: Host, demands: Demands) -> Check:
    """The library is installed where a bus needs it."""
    if importlib.util.find_spec("pysoem") is not None:
        return MASTER.green("pysoem is installed")
    if demands.cards or demands.veth:
        return MASTER.red(
            "pysoem is missing", f'{sys.executable} -m pip install "rigloop[ethercat]"'
        )
    return MASTER.green("pysoem is missing, and the simulated bus needs none")


def _each_card(
    topic: Topic,
) -> Callable[[Callable[[Host, Demands, str], Check]], Callable[[Host, Demands], Check]]:
    """Make a check of one card one of all cards of a rig: as bad as the worst, in the words of those that are
    not good."""

    def widen(look: Callable[[Host, Demands, str], Check]) -> Callable[[Host, Demands], Check]:
        @functools.wraps(look)
        def check(host: Host, demands: Demands) -> Check:
            found = by_severity(look(host, demands, name) for name in demands.cards)
            if not found:
                return topic.green(NO_CARD)
            told = [one for one in found if one.level is not Level.GREEN] or found
            return Check(
                topic.name,
                found[0].level,
                "; ".join(one.found for one in told),
                topic.cause,
                "\n".join(one.remedy for one in told if one.remedy),
            )

        return check

    return widen


@_each_card(INTERFACE)
def network_card(host: Host, demands: Demands, name: str) -> Check:
    """The card is there, up, and carries no other traffic."""
    cards = {card.name for card in host.path("/sys/class/net").glob("*")}
    others = (
        "# give --bus another card: "
        f"{', '.join(sorted(cards - {*demands.cards, 'lo'})) or 'plug one in'}"
    )
    if name not in cards:
        return INTERFACE.red(f"no {name}", others)
    # a card that is down has no carrier to read
    if host.text(f"/sys/class/net/{name}/carrier") != "1":
        return INTERFACE.red(f"{name} has no link", f"sudo ip link set {name} up  # and its cable")
    # interface and destination stand first; the default route has destination 0
    routes = [line.split()[:2] for line in (host.text("/proc/net/route") or "").splitlines()]
    if [name, "00000000"] in routes:
        return INTERFACE.red(f"{name} is this machine's way to its network", others)
    if name in (route[0] for route in routes):
        remedy = f"sudo nmcli device set {name} managed no; sudo ip addr flush dev {name}"
        return INTERFACE.amber(f"{name} carries ordinary traffic too", remedy)
    return INTERFACE.green(f"{name} has a link, and no other traffic is routed over it")


@_each_card(INTERRUPTS)
def card_interrupts(host: Host, demands: Demands, name: str) -> Check:
    """Each interrupt of the card has one core, and not that of a task which may spin there."""
    numbers = _interrupts(host, name)
    if not numbers:
        why = f"no interrupt of {name} under /sys/class/net/{name}/device"
        return INTERRUPTS.unknown(why, f"grep {name} /proc/interrupts")
    serving = {n: host.cpu_list(f"/proc/irq/{n}/smp_affinity_list") for n in numbers}
    others = {t.core for t in demands.tasks if t.name not in demands.bus_tasks} - {None}
    wrong = {
        n: cores for n, cores in serving.items() if not cores or len(cores) > 1 or cores & others
    }
    remedy = (
        f"for irq in {' '.join(map(str, numbers))}; do "
        f"echo {_core_for_interrupts(host, demands)} | sudo tee /proc/irq/$irq/smp_affinity_list; "
        "done; sudo systemctl disable --now irqbalance"
    )
    if wrong:
        told = "; ".join(f"{n} on core {words(cores or ()) or '?'}" for n, cores in wrong.items())
        return INTERRUPTS.amber(f"{name}: {told}", remedy)
    if _runs(host, "irqbalance"):
        return INTERRUPTS.amber("irqbalance is running: it will move them", remedy)
    return INTERRUPTS.green(f"{name}: {len(numbers)} interrupts, each with a core of its own")


def _interrupts(host: Host, name: str) -> list[int]:
    device = host.path(f"/sys/class/net/{name}/device").resolve()
    # the interrupts of a virtio card belong to the PCI device above it
    folder = device.parent if device.name.startswith("virtio") else device
    listed = [int(path.name) for path in (folder / "msi_irqs").glob("[0-9]*")]
    if not listed and (folder / "irq").is_file():
        listed = [int((folder / "irq").read_text())]
    return sorted(number for number in listed if number > 0)


def _core_for_interrupts(host: Host, demands: Demands) -> int:
    free = (host.cpu_list("/sys/devices/system/cpu/online") or frozenset()) - demands.cores
    bus = [task.core for task in demands.tasks if task.name in demands.bus_tasks]
    if free or not bus or bus[0] is None:
        return min(free, default=0)
    return bus[0]


def _runs(host: Host, command: str) -> bool:
    for comm in host.path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text().strip() == command:
                return True
        except OSError:  # it has just ended
            continue
    return False


@_each_card(COALESCING)
def card_coalescing(host: Host, demands: Demands, name: str) -> Check:
    """The card reports each frame at once."""
    remedy = f"sudo ethtool -C {name} adaptive-rx off adaptive-tx off rx-usecs 0 tx-usecs 0"
    try:
        found = ethtool.coalescing(name)
    except OSError as error:
        return COALESCING.unknown(f"{name}: {os.strerror(error.errno or 0)}", remedy)
    told = (
        f"{name}: rx {found.rx_usecs} µs or {found.rx_frames} frames, "
        f"tx {found.tx_usecs} µs or {found.tx_frames} frames, "
        f"adaptive {'on' if found.adaptive else 'off'}"
    )
    if found.rx_usecs >= demands.exchange_budget_us:
        return COALESCING.red(f"{told}; a frame has {demands.exchange_budget_us} µs", remedy)
    # frames are waited for only where a time is given too, or nothing else ends the wait
    if found.adaptive or found.rx_usecs or found.tx_usecs or found.rx_frames > 1:
        return COALESCING.amber(told, f"{remedy} rx-frames 1")
    return COALESCING.green(told)


@_each_card(OFFLOADS)
def card_offloads(host: Host, demands: Demands, name: str) -> Check:
    """The card and its driver merge no frames."""
    try:
        found = ethtool.offloads(name)
    except OSError as error:
        why = f"{name}: {os.strerror(error.errno or 0)}"
        return OFFLOADS.unknown(why, f"sudo ethtool -K {name} gro off lro off gso off tso off")
    on = [offload for offload, is_on in found.items() if is_on]
    if on:
        remedy = f"sudo ethtool -K {name} " + " ".join(f"{offload} off" for offload in on)
        return OFFLOADS.amber(f"{name}: {', '.join(on)} on", remedy)
    return OFFLOADS.green(f"{name}: {', '.join(found)} off")
