"""Memory: enough of it, none of it on a disk, and a place for the signal table."""

from __future__ import annotations

import os
import re

from rt_core.doctor.check import Check, Demands, Topic
from rt_core.host.facts import Host

LOCKED_MIB = 256  # memory that the cycle process locks, with room: 138 MiB were measured
SHARED_MIB = 64  # signal table and rings

FREE = Topic("free memory", "the loop locks all of its pages at the start, or does not start")
SWAP = Topic(
    "swap", "supervisor and recorder are not locked: if they are paged out, they miss the heartbeat"
)
SHARED = Topic("shared memory", "the signal table and the recorder's rings are in /dev/shm")
HUGE_PAGES = Topic(
    "transparent huge pages", "the kernel stops a process while it merges its pages into huge pages"
)


def free(host: Host, demands: Demands) -> Check:
    """Enough for all processes of a run."""
    # the first words of a line such as `MemAvailable:  23488020 kB`
    available = re.match(r"\d+", host.field("/proc/meminfo", "MemAvailable") or "")
    remedy = "ps -eo rss,pid,comm --sort=-rss | head  # end what takes most"
    if available is None:
        return FREE.unknown("no MemAvailable in /proc/meminfo", remedy)
    mib = int(available[0]) // 1024
    found = f"{mib} MiB available"
    if mib < LOCKED_MIB:
        return FREE.red(f"{found}, a run locks up to {LOCKED_MIB}", remedy)
    if mib < 4 * LOCKED_MIB:
        return FREE.amber(found, remedy)
    return FREE.green(found)


def swap(host: Host, demands: Demands) -> Check:
    """Nothing is swapped."""
    table = host.text("/proc/swaps")
    remedy = "sudo swapoff -a  # and for good: sudo sed -i '/\\sswap\\s/s/^/#/' /etc/fstab"
    if table is None:
        return SWAP.unknown("no /proc/swaps", remedy)
    areas = [line.split()[0] for line in table.splitlines()[1:]]
    if areas:
        return SWAP.amber(f"on: {', '.join(areas)}", remedy)
    return SWAP.green("off")


def shared(host: Host, demands: Demands) -> Check:
    """Space for the signal table."""
    place = host.path("/dev/shm")
    remedy = "sudo mount -t tmpfs -o size=1g,mode=1777 tmpfs /dev/shm"
    if not place.is_dir():
        return SHARED.red("no /dev/shm", f"sudo mkdir /dev/shm; {remedy}")
    if not os.access(place, os.W_OK):
        return SHARED.red("/dev/shm cannot be written", "sudo chmod 1777 /dev/shm")
    state = os.statvfs(place)
    mib = state.f_bavail * state.f_frsize >> 20
    if mib < SHARED_MIB:
        bigger = "sudo mount -o remount,size=1g /dev/shm  # in a container: --shm-size 1g"
        return SHARED.red(f"{mib} MiB left, a run takes up to {SHARED_MIB}", bigger)
    return SHARED.green(f"{mib} MiB left")


def huge_pages(host: Host, demands: Demands) -> Check:
    """Pages are merged only where a process asks for it."""
    place = "/sys/kernel/mm/transparent_hugepage/enabled"
    text = host.text(place)
    if text is None:
        return HUGE_PAGES.green("this kernel has none")
    # the choice in use stands in brackets
    chosen = re.search(r"\[(\w+)\]", text)
    if chosen and chosen[1] in ("madvise", "never"):
        return HUGE_PAGES.green(chosen[1])
    return HUGE_PAGES.amber(text, f"echo madvise | sudo tee {place}")
