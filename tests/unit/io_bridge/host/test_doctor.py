import os
import subprocess
import sys

import pytest

from io_bridge.host import doctor, ethtool, namespace
from rt_core.doctor.check import Demands, Level, TaskDemand
from rt_core.host.facts import Host

TASKS = (TaskDemand("estimation", 200, 90, 0, 40), TaskDemand("simulation", 1000, 80, 1, 200))
REAL = Demands(TASKS, ("estimation",), 100, ("eth1",), False)
SIMULATED = Demands(TASKS, ("estimation",), 100, (), False)
VETH = Demands(TASKS, ("estimation",), 100, (), True)
CARD = "/sys/class/net/eth1"


def said(check, demands, before="", *wrapper):
    """Return what a check says in a child process, after a line of code."""
    code = (
        "import os; from pathlib import Path; from io_bridge.host import doctor, ethtool\n"
        "from rt_core.doctor.check import *; from rt_core.host.facts import Host\n"
        f"{before}\ncheck = doctor.{check}(Host(), {demands})\n"
        "print(check.level.value, check.found, check.remedy, sep='\\n')"
    )
    done = subprocess.run(
        [*wrapper, sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done
    return done.stdout.splitlines()


@pytest.mark.parametrize(("demands", "level"), [(REAL, "red"), (Demands(), "amber")])
def test_refused_raw_sockets_matter_where_a_card_is_used(demands, level):
    before = "os.setuid(65534)" if os.geteuid() == 0 else ""
    found = said("raw_sockets", demands, before)
    assert found[:2] == [level, "refused: Operation not permitted"]
    assert "setcap cap_net_raw" in found[2]


def test_a_rig_without_a_card_asks_for_no_raw_socket():
    check = doctor.raw_sockets(Host(), SIMULATED)
    assert (check.level, check.found[:9]) == (Level.GREEN, "not tried")


@pytest.fixture
def no_tools(monkeypatch):
    """A machine on which the tools that make namespaces are not installed."""
    namespace.why_not.cache_clear()
    monkeypatch.setattr(namespace, "_path", lambda: "/nowhere")
    yield
    namespace.why_not.cache_clear()


@pytest.mark.parametrize(
    ("demands", "level"), [(VETH, Level.RED), (Demands(), Level.AMBER), (SIMULATED, Level.GREEN)]
)
def test_missing_tools_matter_where_a_veth_pair_is_used(no_tools, make_host, demands, level):
    check = doctor.network_namespace(make_host(), demands)
    assert check.level is level
    if level is not Level.GREEN:
        assert "package util-linux" in check.found
        assert check.remedy == "sudo apt install util-linux iproute2"


def test_forbidden_namespaces_are_allowed_by_name():
    # a limit of the user namespace that the child is in: none inside it
    unshare = ("unshare", "--user", "--map-root-user")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    before = (
        "Path('/proc/sys/user/max_user_namespaces').write_text('0')\n"
        "Path('/proc/sys/user/max_net_namespaces').write_text('0')"
    )
    found = said("network_namespace", VETH, before, *unshare)
    assert found[0] == "red"
    assert found[2] == "sudo sysctl -w user.max_user_namespaces=10000"


@pytest.mark.netns
def test_a_granted_namespace_is_green(make_host):
    if namespace.why_not() is not None:
        pytest.skip(namespace.why_not())
    assert doctor.network_namespace(make_host(), VETH).level is Level.GREEN


@pytest.mark.parametrize(("demands", "level"), [(REAL, "red"), (VETH, "red"), (SIMULATED, "green")])
def test_a_missing_master_matters_where_a_bus_is_brought_up(demands, level):
    hide = "import sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p]"
    found = said("master", demands, hide)
    assert found[:1] == [level]
    assert "pysoem is missing" in found[1]


def card(**changes):
    files = {
        f"{CARD}/carrier": "1\n",
        f"{CARD}/device/msi_irqs/41": "msi\n",
        f"{CARD}/device/msi_irqs/42": "msi\n",
        "/sys/class/net/lo/carrier": "1\n",
        "/proc/irq/41/smp_affinity_list": "0\n",
        "/proc/irq/42/smp_affinity_list": "0\n",
        "/proc/net/route": "Iface\tDestination\neth0\t00000000\n",
        "/sys/devices/system/cpu/online": "0-1\n",
    }
    return files | changes


def test_a_card_of_its_own_with_a_link_is_green(make_host):
    assert doctor.network_card(make_host(card()), REAL).level is Level.GREEN


def test_a_missing_card_is_red_with_those_there_are(make_host):
    check = doctor.network_card(make_host({"/sys/class/net/enp3s0/carrier": "1"}), REAL)
    assert (check.level, check.found) == (Level.RED, "no eth1")
    assert check.remedy.endswith("enp3s0")


def test_a_card_without_a_link_is_red(make_host):
    assert (
        doctor.network_card(make_host(card() | {f"{CARD}/carrier": "0\n"}), REAL).level is Level.RED
    )


def test_a_card_with_other_traffic_is_amber(make_host):
    route = {"/proc/net/route": "Iface\tDestination\neth1\t000200C0\n"}
    check = doctor.network_card(make_host(card() | route), REAL)
    assert check.level is Level.AMBER
    assert "nmcli device set eth1 managed no" in check.remedy


def test_the_card_that_leads_to_the_network_is_not_for_a_bus(make_host):
    route = {"/proc/net/route": "Iface\tDestination\neth1\t00000000\n"}
    other = {"/sys/class/net/eth2/carrier": "1"}
    check = doctor.network_card(make_host(card() | route | other), REAL)
    assert check.level is Level.RED
    # nothing to paste that would cut off whoever pastes it
    assert check.remedy == "# give --bus another card: eth2"


def test_interrupts_with_a_core_of_their_own_are_green(make_host):
    assert doctor.card_interrupts(make_host(card()), REAL).level is Level.GREEN


@pytest.mark.parametrize("cores", ["0-1", "1", ""], ids=["any", "another task's", "unreadable"])
def test_interrupts_that_may_disturb_another_task_are_amber(make_host, cores):
    host = make_host(card() | {"/proc/irq/42/smp_affinity_list": f"{cores}\n"})
    check = doctor.card_interrupts(host, REAL)
    assert check.level is Level.AMBER
    assert "42 on core" in check.found
    assert "41 on" not in check.found
    assert "echo 0 | sudo tee /proc/irq/$irq/smp_affinity_list" in check.remedy


def test_interrupts_are_sent_to_a_core_without_tasks(make_host):
    host = make_host(
        card() | {"/sys/devices/system/cpu/online": "0-3", "/proc/irq/42/smp_affinity_list": "1"}
    )
    assert "echo 2 | sudo tee" in doctor.card_interrupts(host, REAL).remedy


def test_interrupts_of_a_virtio_card_are_found_above_it(make_host):
    host = make_host(card())
    pci = host.path("/sys/devices/pci0000:00/0000:00:03.0")
    (pci / "virtio2").mkdir(parents=True)
    (pci / "msi_irqs").mkdir()
    (pci / "msi_irqs" / "42").write_text("msi\n")
    device = host.path(f"{CARD}/device")
    device.rename(device.with_name("unused"))
    device.symlink_to(pci / "virtio2")
    check = doctor.card_interrupts(host, REAL)
    assert check.level is Level.GREEN
    assert "1 interrupts" in check.found


def test_a_card_without_interrupts_is_amber(make_host):
    check = doctor.card_interrupts(make_host({f"{CARD}/carrier": "1"}), REAL)
    assert check.found.startswith("unknown")


def test_a_running_irqbalance_is_amber(make_host):
    host = make_host(card() | {"/proc/77/comm": "irqbalance\n"})
    assert doctor.card_interrupts(host, REAL).found.startswith("irqbalance is running")


@pytest.mark.parametrize(
    "check",
    [doctor.network_card, doctor.card_interrupts, doctor.card_coalescing, doctor.card_offloads],
)
def test_a_rig_without_a_card_says_that_none_was_looked_at(make_host, check):
    found = check(make_host(card()), SIMULATED)
    assert (found.level, found.found) == (Level.GREEN, doctor.NO_CARD)


@pytest.mark.parametrize("check", [doctor.card_coalescing, doctor.card_offloads])
def test_a_card_that_does_not_tell_is_amber(make_host, check):
    found = check(make_host(), Demands(cards=("nowhere0",)))
    assert (found.level, found.found) == (Level.AMBER, "unknown: nowhere0: No such device")


RING = Demands(TASKS, ("estimation",), 100, ("eth1", "eth2"), False)


def test_the_card_of_the_second_cable_is_looked_at_too(make_host):
    good = {path.replace("eth1", "eth2"): text for path, text in card().items() if CARD in path}
    both = doctor.network_card(make_host(card() | good), RING)
    assert (both.level, both.remedy) == (Level.GREEN, "")
    assert "eth1 has a link" in both.found
    assert "eth2 has a link" in both.found
    assert doctor.card_interrupts(make_host(card() | good), RING).level is Level.GREEN


def test_the_worst_card_of_a_ring_decides_and_the_good_one_is_not_told(make_host):
    unplugged = {"/sys/class/net/eth2/carrier": "0\n"}
    check = doctor.network_card(make_host(card() | unplugged), RING)
    assert (check.level, check.found) == (Level.RED, "eth2 has no link")
    route = {"/proc/net/route": "Iface\tDestination\neth1\t000200C0\n"}
    check = doctor.network_card(make_host(card() | unplugged | route), RING)
    assert check.level is Level.RED
    assert check.found == "eth2 has no link; eth1 carries ordinary traffic too"
    assert len(check.remedy.splitlines()) == 2


def in_namespace(check, interface, before):
    if namespace.why_not() is not None:
        pytest.skip(namespace.why_not())
    return said(check, f"Demands(cards=({interface!r},))", before, *namespace.wrap([])[:-1], "--")


@pytest.mark.netns
@pytest.mark.parametrize("on", [True, False])
def test_offloads_of_a_real_interface_are_found(on):
    # veth keeps some on; GRO is the one that holds received frames back
    before = f"ethtool._ask('veth0', ethtool._Value(cmd=0x2C, data={int(on)}))"
    level, found, remedy = in_namespace("card_offloads", "veth0", before)
    assert level == "amber"
    assert ("gro" in found.split(" on")[0]) is on
    assert (" gro off" in remedy) is on


@pytest.mark.netns
def test_offloads_that_are_all_off_are_green():
    # the ETHTOOL_S... of each: GRO, GSO, TSO
    before = "for cmd in (0x2C, 0x24, 0x1F): ethtool._ask('veth0', ethtool._Value(cmd=cmd, data=0))"
    assert in_namespace("card_offloads", "veth0", before)[0] == "green"


TAP = """
import fcntl, struct
tap = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", b"tap7", 0x1002))
ethtool._ask("tap7", ethtool._Coalescing(cmd=0x0F, rx_frames={frames}))
"""


@pytest.mark.netns
@pytest.mark.parametrize(("frames", "level"), [(16, "amber"), (0, "green")])
def test_coalescing_of_a_real_interface_is_found(frames, level):
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("no tap devices here")
    found = in_namespace("card_coalescing", "tap7", TAP.format(frames=frames))
    assert found[0] == level
    assert f"or {frames} frames" in found[1]
    assert level == "green" or found[2].startswith("sudo ethtool -C tap7 ")


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        (ethtool.Coalescing(0, 1, 0, 1, False), Level.GREEN),
        (ethtool.Coalescing(3, 1, 0, 1, False), Level.AMBER),
        (ethtool.Coalescing(0, 1, 0, 1, True), Level.AMBER),
        (ethtool.Coalescing(125, 1, 0, 1, False), Level.RED),
    ],
)
def test_a_card_that_holds_frames_longer_than_they_may_take_is_red(monkeypatch, settings, level):
    # no interface that can be made here has a time to set
    monkeypatch.setattr(ethtool, "coalescing", lambda name: settings)
    assert doctor.card_coalescing(Host(), REAL).level is level
