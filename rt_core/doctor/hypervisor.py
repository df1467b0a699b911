"""The hypervisor: the processor time that it takes, and whether it reports that time."""

from __future__ import annotations

import re
import time

from rt_core.doctor.check import Check, Demands, Topic
from rt_core.doctor.kernel import configuration
from rt_core.host.facts import Host, steal_ticks

MOST_STEAL_PERCENT = 5.0  # 50 ms of a second: no deadline near a period holds
LEAST_UPTIME_S = 600.0  # a host that took nothing for so long may just not report it

ASK_HOST = "# on the host: give this machine steal time (KVM: -cpu host,+kvm-steal-time)"

STEAL = Topic("hypervisor steal", "a stolen slice of time stops the loop, whatever its priority")
ACCOUNTING = Topic(
    "steal accounting",
    "time that a host steals without reporting it looks like the loop's own work",
)


def steal(host: Host, demands: Demands) -> Check:
    """Measure the share of time that the hypervisor gives to others, over `host.sample_s`."""
    remedy = "# a machine of its own, or cores of the host dedicated to this machine"
    before = _ticks(host)
    time.sleep(host.sample_s)
    after = _ticks(host)
    if before is None or after is None:
        return STEAL.unknown("no steal column in /proc/stat", remedy)
    stolen, total = after[0] - before[0], after[1] - before[1]
    percent = 100.0 * stolen / max(1, total)
    found = f"{percent:.1f} % of {host.sample_s:g} s ({stolen} of {total} ticks)"
    if percent >= MOST_STEAL_PERCENT:
        return STEAL.red(found, remedy)
    if stolen > 0:
        return STEAL.amber(found, remedy)
    if host.is_virtual():
        return STEAL.green(f"{found}; a virtual machine, so look again under load")
    return STEAL.green(found)


def _ticks(host: Host) -> tuple[int, int] | None:
    """Stolen and all ticks of all cores since boot; guest time is part of user time."""
    columns = re.match(r"cpu((?: +\d+){8})", host.text("/proc/stat") or "")
    if columns is None:
        return None
    ticks = [int(column) for column in columns[1].split()]
    return ticks[7], sum(ticks)


def steal_accounting(host: Host, demands: Demands) -> Check:
    """Stolen time comes off a thread's CPU time: only then are `stolen` and `own work` distinguished.

    The kernel has to be built for it, not have it switched off at boot, and get it from the hypervisor.
    """
    if not host.is_virtual():
        return ACCOUNTING.green("no hypervisor")
    configured = configuration(host)
    if configured and "CONFIG_PARAVIRT_TIME_ACCOUNTING=y" not in configured:
        return ACCOUNTING.amber(
            "this kernel is built without CONFIG_PARAVIRT_TIME_ACCOUNTING",
            "sudo apt install linux-image-amd64 && sudo systemctl reboot",
        )
    if "no-steal-acc" in (host.text("/proc/cmdline") or "").split():
        take_out = "sudo sed -i 's/ *no-steal-acc//' /etc/default/grub /etc/default/grub.d/*.cfg"
        return ACCOUNTING.amber(
            "switched off by no-steal-acc at boot",
            f"{take_out}; sudo update-grub && sudo systemctl reboot",
        )
    ticks = steal_ticks(host)
    if ticks is None:
        return ACCOUNTING.unknown("no steal column in /proc/stat", ASK_HOST)
    if ticks > 0:
        return ACCOUNTING.green(f"{ticks} ticks reported since boot")
    uptime_s = float((host.text("/proc/uptime") or "0").split()[0])
    if uptime_s < LEAST_UPTIME_S:
        return ACCOUNTING.unknown(
            f"nothing stolen in {uptime_s:.0f} s since boot", "# look again in ten minutes"
        )
    return ACCOUNTING.amber(
        f"not a tick in {uptime_s / 3600:.1f} h: this host takes nothing, or does not report it",
        ASK_HOST,
    )
