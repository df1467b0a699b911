"""The kernel: preemption, the share of real-time threads, the timer tick, isolation of cores."""

from __future__ import annotations

import gzip
import re

from rt_core.doctor.check import Check, Demands, Topic, words
from rt_core.host.facts import Host

FAIR_SHARE = 0.95  # since 6.12 the fair server keeps 5 % whatever sched_rt_runtime_us says

BOOT_LINE = (
    """echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {}"' | """
    "sudo tee -a /etc/default/grub.d/realtime.cfg && sudo update-grub && sudo systemctl reboot"
)

PREEMPTION = Topic(
    "kernel preemption", "a kernel that cannot be preempted finishes its own work first"
)
THROTTLING = Topic(
    "real-time throttling",
    "a task that uses up its whole share is stopped for the rest of a second",
)
GROUP_SHARE = Topic(
    "real-time group share", "a control group without a share gets no FIFO thread at all"
)
ISOLATION = Topic(
    "isolated cores", "other processes on a task's core evict its caches and queue their interrupts"
)
TICK = Topic("timer tick", "each tick interrupts a spinning or stepping task for some µs")


def preemption(host: Host, demands: Demands) -> Check:
    """PREEMPT_RT is good; without preemption a real drive is not to be trusted to this kernel."""
    version = host.text("/proc/version") or ""
    if host.text("/sys/kernel/realtime") == "1" or "PREEMPT_RT" in version:
        return PREEMPTION.green("PREEMPT_RT")
    mode = _preemption_mode(host)
    rt_kernel = "sudo apt install linux-image-rt-amd64 && sudo systemctl reboot"
    if mode is None:
        return PREEMPTION.unknown("neither debugfs, nor boot line, nor configuration", rt_kernel)
    if mode in ("full", "lazy"):
        return PREEMPTION.amber(f"{mode}, not PREEMPT_RT", rt_kernel)
    remedy = rt_kernel
    if "PREEMPT_DYNAMIC" in version:
        remedy += "\n# or, less, with this kernel:\n" + BOOT_LINE.format("preempt=full")
    found = f"{mode}: no preemption inside the kernel"
    # a delay that is harmless in simulation is a late torque on a real drive
    return (PREEMPTION.red if demands.cards else PREEMPTION.amber)(found, remedy)


def _preemption_mode(host: Host) -> str | None:
    # the mode in use stands in brackets
    if found := re.search(r"\((\w+)\)", host.text("/sys/kernel/debug/sched/preempt") or ""):
        return found[1]
    if found := re.search(r"\bpreempt=(\w+)", host.text("/proc/cmdline") or ""):
        return found[1]
    configured = configuration(host)
    for mode, option in (
        ("none", "PREEMPT_NONE"),
        ("voluntary", "PREEMPT_VOLUNTARY"),
        ("lazy", "PREEMPT_LAZY"),
        ("full", "PREEMPT"),
    ):
        if f"CONFIG_{option}=y" in configured:
            return mode
    return None


def configuration(host: Host) -> list[str]:
    """Return the lines of the kernel's configuration, none if it is nowhere to be read."""
    release = host.text("/proc/sys/kernel/osrelease")
    text = host.text(f"/boot/config-{release}")
    if text is None:
        try:
            text = gzip.decompress(host.path("/proc/config.gz").read_bytes()).decode()
        except (OSError, EOFError):
            return []
    return text.splitlines()


def throttling(host: Host, demands: Demands) -> Check:
    """The spin of all tasks of a core, which is the least they take, must stay below the share."""
    runtime = host.number("/proc/sys/kernel/sched_rt_runtime_us")
    period = host.number("/proc/sys/kernel/sched_rt_period_us")
    restore = "sudo sysctl -w kernel.sched_rt_period_us=1000000 kernel.sched_rt_runtime_us=950000"
    if runtime is None or not period:
        return THROTTLING.unknown("no sched_rt_runtime_us in /proc/sys/kernel", restore)
    if runtime == 0:
        return THROTTLING.red("share 0: no FIFO thread may run", restore)
    share = FAIR_SHARE if runtime < 0 else min(FAIR_SHARE, runtime / period)
    core, duty = _highest_duty(demands)
    found = f"share {100 * share:.0f} %, spin takes {100 * duty:.0f} % of {core}"
    if duty >= share:
        remedy = _less_spin(demands, share - 0.1)
        return THROTTLING.red(found, remedy)
    if share < FAIR_SHARE - 1e-9:
        return THROTTLING.amber(found, restore)
    if duty >= share - 0.1:
        remedy = _less_spin(demands, share - 0.1)
        return THROTTLING.amber(f"{found}, and the steps come on top", remedy)
    return THROTTLING.green(found)


def _highest_duty(demands: Demands) -> tuple[str, float]:
    duty: dict[int | None, float] = {}
    for task in demands.tasks:
        # only the highest task of a core spins to the end; the others are preempted in their spin
        spin = min(task.spin_us, task.period_us) / task.period_us
        duty[task.core] = max(duty.get(task.core, 0.0), spin)
    core, highest = max(duty.items(), key=lambda item: item[1], default=(None, 0.0))
    return ("a core" if core is None else f"core {core}"), highest


def _less_spin(demands: Demands, duty: float) -> str:
    lines = [
        f"spin_us = {int(duty * task.period_us)}  # at most, in [tasks.{task.name}]"
        for task in demands.tasks
        if task.spin_us > duty * task.period_us
    ]
    return "\n".join(lines)


def group_share(host: Host, demands: Demands) -> Check:
    """Version 1 cpu groups have a share each, and a new one has none."""
    group, mount = _cpu_group(host), _cpu_mount(host)
    if group is None or mount is None:
        return GROUP_SHARE.green("groups have no shares of their own here")
    place = f"{mount}{group if group != '/' else ''}/cpu.rt_runtime_us"
    runtime = host.number(place)
    if runtime is None:
        return GROUP_SHARE.green("this kernel gives groups no shares of their own")
    if runtime == 0:
        remedy = f"echo 950000 | sudo tee {place}"
        return GROUP_SHARE.red(f"group {group} has share 0", remedy)
    return GROUP_SHARE.green(f"{runtime} µs of group {group}")


def _cpu_group(host: Host) -> str | None:
    for line in (host.text("/proc/self/cgroup") or "").splitlines():
        _, controllers, group = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return group
    return None


def _cpu_mount(host: Host) -> str | None:
    for line in (host.text("/proc/self/mountinfo") or "").splitlines():
        place, _, filesystem = line.partition(" - ")
        kind, *_, options = filesystem.split()
        if kind == "cgroup" and "cpu" in options.split(","):
            return place.split()[4]
    return None


def isolation(host: Host, demands: Demands) -> Check:
    """Cores of the rig are taken out of the scheduler's balancing."""
    isolated = host.cpu_list("/sys/devices/system/cpu/isolated")
    if isolated is None:
        return ISOLATION.unknown("no /sys/devices/system/cpu/isolated", _boot_remedy(host, demands))
    shared = demands.cores - isolated
    if not shared:
        return ISOLATION.green(f"cores {words(demands.cores)} are isolated")
    found = f"cores {words(shared)} of the rig are shared with every other process"
    return ISOLATION.amber(found, _boot_remedy(host, demands))


def tick(host: Host, demands: Demands) -> Check:
    """Cores of the rig run without the periodic tick."""
    without = host.cpu_list("/sys/devices/system/cpu/nohz_full")
    if without is None:
        return TICK.amber(
            "this kernel is built without CONFIG_NO_HZ_FULL: it ticks on every busy core",
            "sudo apt install linux-image-amd64 && " + _boot_remedy(host, demands),
        )
    ticking = demands.cores - without
    if not ticking:
        return TICK.green(f"none on cores {words(demands.cores)}")
    return TICK.amber(f"on cores {words(ticking)}", _boot_remedy(host, demands))


def _boot_remedy(host: Host, demands: Demands) -> str:
    online = host.cpu_list("/sys/devices/system/cpu/online") or demands.cores
    # core 0 has to stay for everything else
    free = demands.cores - {0}
    if demands.cores >= online or not free:
        free = online - {0}
    if not free:
        return "# a machine with more than one core: a lone core cannot be isolated"
    line = BOOT_LINE.format(
        f"isolcpus=managed_irq,domain,{words(free)} nohz_full={words(free)} rcu_nocbs={words(free)}"
    )
    if free == demands.cores:
        return line
    return f"{line}  # and in the rig, for every task: core = {' or '.join(words(free).split(','))}"
