"""Facts of the host that a timing figure means nothing without."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any


def host_facts() -> dict[str, Any]:
    """Return what a manifest keeps of the host; a fact that cannot be read is None.

    Returns
    -------
    facts : dict
        `kernel`, `preemption` (e.g. "PREEMPT_DYNAMIC", "PREEMPT_RT"), `machine`, `cpu`, `cpus`,
        `cpus_allowed`, `isolated`, `governor`, `clock_source`, `rt_runtime_us`, `hypervisor`,
        `steal_ticks` (all cores, since boot), `load` (1, 5, 15 min), `python`.
    """
    version = platform.uname().version
    words = [word for word in version.split() if word.startswith("PREEMPT")]
    return {
        "kernel": platform.uname().release,
        "preemption": words[0] if words else None,
        "machine": platform.machine(),
        "cpu": _field("/proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "isolated": _text("/sys/devices/system/cpu/isolated"),
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "clock_source": _text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "rt_runtime_us": _text("/proc/sys/kernel/sched_rt_runtime_us"),
        "hypervisor": "hypervisor" in (_field("/proc/cpuinfo", "flags") or "").split(),
        "steal_ticks": steal_ticks(),
        "load": list(os.getloadavg()),
        "python": sys.version.split()[0],
    }


def steal_ticks() -> int | None:
    """Return the ticks (10 ms, usually) that the hypervisor took from this machine since boot."""
    text = _text("/proc/stat")
    columns = text.split("\n")[0].split() if text else []
    return int(columns[8]) if len(columns) > 8 else None


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def _field(path: str, key: str) -> str | None:
    for line in (_text(path) or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None
