"""The host: its files under one root, and the facts that a timing figure means nothing without."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ALL_USERS = ["0", "0", str(2**32 - 1)]  # the uid_map of the namespace that all others come from


@dataclass(frozen=True)
class Host:
    """The place of the files in which a kernel describes itself.

    Attributes
    ----------
    root : Path
        `proc`, `sys`, `dev` and `boot` are looked for under it.
    sample_s : float
        How long a measurement by two readings takes.
    """

    root: Path = Path("/")
    sample_s: float = 1.0

    def path(self, place: str) -> Path:
        """Return where an absolute path of the host lies."""
        return self.root / place.lstrip("/")

    def text(self, place: str) -> str | None:
        """Return the text of a file, None if it cannot be read."""
        try:
            return self.path(place).read_text(errors="replace").strip()
        except OSError:
            return None

    def number(self, place: str) -> int | None:
        """Return the whole number that a file holds, None if there is none."""
        text = self.text(place)
        return int(text) if text and text.removeprefix("-").isdecimal() else None

    def field(self, place: str, key: str) -> str | None:
        """Return the value of a `key: value` line."""
        for line in (self.text(place) or "").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
        return None

    def cpu_list(self, place: str) -> frozenset[int] | None:
        """Return the numbers of a list such as `0-2,5`, None if there is no such file."""
        text = self.text(place)
        return None if text is None else parse_cpu_list(text)

    def has_capability(self, bit: int) -> bool:
        """Return whether this process has a capability of the host, by its number in capability.h."""
        if (self.text("/proc/self/uid_map") or "").split() != _ALL_USERS:
            return False  # rights of a user namespace count for nothing outside it
        effective = self.field("/proc/self/status", "CapEff")
        return effective is not None and bool(int(effective, 16) >> bit & 1)

    def is_virtual(self) -> bool:
        """Return whether this machine runs under a hypervisor."""
        return "hypervisor" in (self.field("/proc/cpuinfo", "flags") or "").split()


def parse_cpu_list(text: str) -> frozenset[int]:
    """Return the numbers of a list such as `0-2,5`; a part that is not a number, as `(null)`, is left out."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal():
            found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


def host_facts(host: Host = Host()) -> dict[str, Any]:
    """Return the facts of the host that a manifest keeps; a fact that cannot be read is None.

    Returns
    -------
    facts : dict
        `kernel`, `preemption` (e.g. "PREEMPT_DYNAMIC", "PREEMPT_RT"), `machine`, `cpu`, `cpus`,
        `cpus_allowed`, `isolated`, `governor`, `clock_source`, `rt_runtime_us`, `hypervisor`,
        `steal_ticks` (all cores, since boot), `load` (1, 5, 15 min), `python`.
    """
    version = platform.uname().version
    words = [word for word in version.split() if word.startswith("PREEMPT")]
    cpu = "/sys/devices/system/cpu"
    return {
        "kernel": platform.uname().release,
        "preemption": words[0] if words else None,
        "machine": platform.machine(),
        "cpu": host.field("/proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "isolated": host.text(f"{cpu}/isolated"),
        "governor": host.text(f"{cpu}/cpu0/cpufreq/scaling_governor"),
        "clock_source": host.text(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
        "rt_runtime_us": host.text("/proc/sys/kernel/sched_rt_runtime_us"),
        "hypervisor": host.is_virtual(),
        "steal_ticks": steal_ticks(host),
        "load": list(os.getloadavg()),
        "python": sys.version.split()[0],
    }


def steal_ticks(host: Host = Host()) -> int | None:
    """Return the ticks (10 ms, usually) that the hypervisor took from this machine since boot."""
    columns = (host.text("/proc/stat") or "").split("\n")[0].split()
    return int(columns[8]) if len(columns) > 8 else None
