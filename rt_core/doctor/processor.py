"""The processor: its clock, its sleep, its siblings."""

from __future__ import annotations

import os

from rt_core.doctor.check import Check, Demands, Topic, words
from rt_core.host.facts import Host

CPU = "/sys/devices/system/cpu"

GOVERNOR = Topic("CPU governor", "at a lower clock a step takes longer, and each change stalls")
TURBO = Topic("turbo and heat", "if the clock depends on heat, so does the step time")
IDLE = Topic("idle states", "a core in a deep sleep state wakes up late")
SIBLINGS = Topic("sibling threads", "two threads of one core share its units: each slows the other")
CLOCK = Topic("clock source", "a slow clock is read several times a cycle, an unstable one jumps")


def governor(host: Host, demands: Demands) -> Check:
    """All cores of the rig keep the highest clock."""
    remedy = "sudo cpupower frequency-set -g performance"
    found = {c: host.text(f"{CPU}/cpu{c}/cpufreq/scaling_governor") for c in demands.cores}
    unread = [core for core, name in found.items() if name is None]
    if unread:
        if host.is_virtual():
            return GOVERNOR.unknown("the hypervisor decides", f"{remedy}  # on the host")
        return GOVERNOR.unknown(
            f"no cpufreq for cores {words(unread)}",
            f"{remedy}  # once the firmware lets the kernel scale",
        )
    others = {core: name for core, name in found.items() if name != "performance"}
    if others:
        told = ", ".join(f"core {core}: {name}" for core, name in sorted(others.items()))
        return GOVERNOR.amber(told, remedy)
    return GOVERNOR.green(f"performance on cores {words(found)}")


def turbo(host: Host, demands: Demands) -> Check:
    """The clock is not raised while cool, and was not lowered by heat."""
    hot = sum(host.number(f"{CPU}/cpu{c}/thermal_throttle/core_throttle_count") or 0
              for c in demands.cores)  # fmt: skip
    no_turbo = host.number(f"{CPU}/intel_pstate/no_turbo")
    boost = host.number(f"{CPU}/cpufreq/boost")
    if no_turbo is not None:
        is_on, remedy = no_turbo == 0, f"echo 1 | sudo tee {CPU}/intel_pstate/no_turbo"
    elif boost is not None:
        is_on, remedy = boost == 1, f"echo 0 | sudo tee {CPU}/cpufreq/boost"
    else:
        why = "the hypervisor decides" if host.is_virtual() else "neither intel_pstate nor boost"
        return TURBO.unknown(
            why, "# turn turbo off in the firmware, or on the host of this machine"
        )
    if hot:
        found = f"cores {words(demands.cores)} were throttled by heat {hot} times since boot"
        return TURBO.amber(found, f"{remedy}  # and cool the machine")
    if is_on:
        return TURBO.amber("turbo is on", remedy)
    return TURBO.green("turbo is off, never throttled")


def idle(host: Host, demands: Demands) -> Check:
    """The loop may keep its cores awake, or they have no deep sleep."""
    device = host.path("/dev/cpu_dma_latency")
    if os.access(device, os.W_OK):
        return IDLE.green("the loop keeps its cores awake through /dev/cpu_dma_latency")
    why = "not writable" if device.exists() else "missing"
    latencies = [
        int(state.joinpath("latency").read_text())
        for core in demands.cores
        for state in host.path(f"{CPU}/cpu{core}/cpuidle").glob("state*")
        if state.joinpath("disable").read_text().strip() == "0"
    ]
    deepest = max(latencies, default=0)
    remedy = (
        """echo 'KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"' | """
        "sudo tee /etc/udev/rules.d/99-realtime.rules; sudo udevadm trigger -c add"
    )
    found = f"/dev/cpu_dma_latency is {why}; the deepest sleep takes {deepest} µs to leave"
    fastest = min(demands.tasks, key=lambda task: task.period_us, default=None)
    if fastest is not None and deepest > max(fastest.spin_us, fastest.period_us // 10):
        return IDLE.red(f"{found}, {fastest.name} has {fastest.period_us} µs", remedy)
    return IDLE.amber(found, remedy)


def siblings(host: Host, demands: Demands) -> Check:
    """No core of the rig shares its units with one that is in use."""
    shared: set[int] = set()
    for core in demands.cores:
        listed = host.cpu_list(f"{CPU}/cpu{core}/topology/thread_siblings_list")
        if listed is None:
            return SIBLINGS.unknown(f"no topology of core {core}", _offline(host, set()))
        shared |= listed - {core}
    if shared:
        found = f"cores {words(shared)} are siblings of cores {words(demands.cores)}"
        return SIBLINGS.amber(found, _offline(host, shared - demands.cores))
    return SIBLINGS.green(f"cores {words(demands.cores)} have none")


def _offline(host: Host, others: set[int]) -> str:
    control = f"{CPU}/smt/control"
    if host.text(control) in ("on", "off"):
        return f"echo off | sudo tee {control}"
    if others:
        return "; ".join(f"echo 0 | sudo tee {CPU}/cpu{core}/online" for core in sorted(others))
    return "# turn simultaneous multithreading off in the firmware"


def clock_source(host: Host, demands: Demands) -> Check:
    """The clock is a register of the processor."""
    folder = "/sys/devices/system/clocksource/clocksource0"
    current = host.text(f"{folder}/current_clocksource")
    available = (host.text(f"{folder}/available_clocksource") or "").split()
    switch = f"echo tsc | sudo tee {folder}/current_clocksource"
    if "tsc" not in available:
        switch = "dmesg | grep -i -e tsc -e clocksource  # why the kernel gave up tsc"
    if current is None:
        return CLOCK.unknown(f"no {folder}", switch)
    if current in ("tsc", "arch_sys_counter"):
        return CLOCK.green(current)
    if current in ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"):
        return CLOCK.red(f"{current}: a reading takes 1 µs or more", switch)
    return CLOCK.amber(f"{current}: depends on the hypervisor", switch)
