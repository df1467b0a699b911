import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rt_core.doctor import kernel
from rt_core.doctor.check import Demands, Level, TaskDemand

VERSION = "Linux version 6.12.1 (gcc) #1 SMP {} Debian\n"
DYNAMIC = {"/proc/version": VERSION.format("PREEMPT_DYNAMIC")}
SIMULATED, REAL = Demands(), Demands(cards=("eth1",))


def spinning(*tasks):
    """Return demands of tasks given as period, spin and core."""
    return Demands(
        tuple(
            TaskDemand(f"t{i}", period, 80, core, spin)
            for i, (period, spin, core) in enumerate(tasks)
        )
    )


@pytest.mark.parametrize(
    "files",
    [{"/proc/version": VERSION.format("PREEMPT_RT")}, DYNAMIC | {"/sys/kernel/realtime": "1\n"}],
)
def test_a_real_time_kernel_is_green(make_host, files):
    assert kernel.preemption(make_host(files), REAL).level is Level.GREEN


@pytest.mark.parametrize(
    ("files", "mode"),
    [
        ({"/sys/kernel/debug/sched/preempt": "none voluntary (full) lazy\n"}, "full"),
        ({"/proc/cmdline": "quiet preempt=voluntary root=/dev/vda1"}, "voluntary"),
        ({"/proc/config.gz": gzip.compress(b"CONFIG_PREEMPT_NONE=y\nCONFIG_PREEMPT_DYNAMIC=y\n")}, "none"),
        (
            {
                "/proc/sys/kernel/osrelease": "6.1.0-x",
                "/boot/config-6.1.0-x": "# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT=y\n",
            },
            "full",
        ),
    ],
    ids=["debugfs", "boot line", "config.gz", "boot folder"],
)  # fmt: skip
def test_the_preemption_mode_is_read_wherever_it_stands(make_host, files, mode):
    check = kernel.preemption(make_host(DYNAMIC | files), SIMULATED)
    assert check.found.startswith(mode)
    assert check.level is Level.AMBER
    assert "linux-image-rt" in check.remedy


def test_a_real_drive_is_not_left_to_a_kernel_without_preemption(make_host):
    host = make_host(DYNAMIC | {"/proc/cmdline": "preempt=none"})
    assert kernel.preemption(host, SIMULATED).level is Level.AMBER
    red = kernel.preemption(host, REAL)
    assert red.level is Level.RED
    assert "preempt=full" in red.remedy


def test_only_a_dynamic_kernel_is_offered_another_mode(make_host):
    host = make_host(
        {
            "/proc/version": VERSION.format(""),
            "/proc/config.gz": gzip.compress(b"CONFIG_PREEMPT_VOLUNTARY=y\n"),
        }
    )
    assert "preempt=full" not in kernel.preemption(host, REAL).remedy


@pytest.mark.parametrize("files", [{}, DYNAMIC, {"/proc/config.gz": b"no gzip"}])
def test_an_unknown_preemption_is_amber(make_host, files):
    check = kernel.preemption(make_host(files), REAL)
    assert check.level is Level.AMBER
    assert check.found.startswith("unknown")


def share(runtime, period=1_000_000):
    return {
        "/proc/sys/kernel/sched_rt_runtime_us": f"{runtime}\n",
        "/proc/sys/kernel/sched_rt_period_us": f"{period}\n",
    }


@pytest.mark.parametrize(
    ("runtime", "tasks", "level"),
    [
        (950_000, [(1000, 200, 0)], Level.GREEN),
        (950_000, [(1000, 200, 0), (200, 100, 1)], Level.GREEN),
        (950_000, [(1000, 200, 0), (200, 180, 1)], Level.AMBER),
        (950_000, [(1000, 950, 0)], Level.RED),
        (-1, [(1000, 200, 0)], Level.GREEN),
        # the fair server cuts in whatever the setting says
        (-1, [(1000, 1000, None)], Level.RED),
        (500_000, [(1000, 200, 0)], Level.AMBER),
        (500_000, [(1000, 600, 0)], Level.RED),
        (0, [], Level.RED),
    ],
)  # fmt: skip
def test_spin_stays_below_the_share_of_real_time_threads(make_host, runtime, tasks, level):
    check = kernel.throttling(make_host(share(runtime)), spinning(*tasks))
    assert check.level is level, check
    assert (check.remedy != "") == (level is not Level.GREEN)


def test_too_much_spin_is_told_with_the_task_and_the_spin_it_may_have(make_host):
    check = kernel.throttling(make_host(share(950_000)), spinning((1000, 200, 0), (200, 195, 1)))
    assert check.remedy == "spin_us = 170  # at most, in [tasks.t1]"
    assert "98 % of core 1" in check.found


def test_an_unreadable_share_is_amber(make_host):
    assert kernel.throttling(make_host(), SIMULATED).level is Level.AMBER


MOUNT = "33 31 0:30 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"


def group(runtime):
    return {
        "/proc/self/cgroup": "4:memory:/m\n1:cpu,cpuacct:/rig\n0::/\n",
        "/proc/self/mountinfo": "20 1 0:3 / / rw - ext4 /dev/vda rw\n" + MOUNT,
        "/sys/fs/cgroup/cpu/rig/cpu.rt_runtime_us": f"{runtime}\n",
    }


def test_a_control_group_without_a_share_is_red_and_named(make_host):
    check = kernel.group_share(make_host(group(0)), SIMULATED)
    assert check.level is Level.RED
    assert "/rig" in check.found
    assert check.remedy == "echo 950000 | sudo tee /sys/fs/cgroup/cpu/rig/cpu.rt_runtime_us"


@pytest.mark.parametrize("files", [group(950_000), {}, {"/proc/self/cgroup": "0::/user.slice\n"}])
def test_a_control_group_with_a_share_or_of_version_2_is_green(make_host, files):
    assert kernel.group_share(make_host(files), SIMULATED).level is Level.GREEN


@pytest.fixture
def bare_group():
    """A real cpu control group, which the kernel makes without a share."""
    path = Path("/sys/fs/cgroup/cpu") / f"doctor-{os.getpid()}"
    try:
        path.mkdir()
    except OSError as error:
        pytest.skip(f"no control groups of version 1 to make here: {error.strerror}")
    yield path
    path.rmdir()


def test_a_real_group_without_a_share_is_found_from_inside(bare_group):
    if not (bare_group / "cpu.rt_runtime_us").exists():
        pytest.skip("this kernel gives groups no shares")
    code = (
        "import json, os; from pathlib import Path\n"
        f"Path('{bare_group}/cgroup.procs').write_text(str(os.getpid()))\n"
        "from rt_core.doctor import kernel, rights; from rt_core.doctor.check import Demands\n"
        "from rt_core.host.facts import Host\n"
        "for check in (kernel.group_share, rights.priority):\n"
        "    said = check(Host(), Demands()); print(json.dumps([said.level, said.found, said.remedy]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    group_said, priority_said = (json.loads(line) for line in done.stdout.splitlines())
    assert group_said[0] == "red", done
    assert str(bare_group) in group_said[2]
    # and the kernel does refuse
    assert priority_said[0] == "red"
    assert "share" in priority_said[1]


CPUS = {"/sys/devices/system/cpu/online": "0-3\n"}


@pytest.mark.parametrize("check", [kernel.isolation, kernel.tick])
@pytest.mark.parametrize(
    ("listed", "cores", "level"),
    [
        ("2-3", (2, 3), Level.GREEN),
        ("2", (2, 3), Level.AMBER),
        ("", (2,), Level.AMBER),
        (" (null)", (2,), Level.AMBER),
    ],
)  # fmt: skip
def test_cores_of_the_rig_have_to_be_on_the_list(make_host, check, listed, cores, level):
    files = {f"/sys/devices/system/cpu/{name}": f"{listed}\n" for name in ("isolated", "nohz_full")}
    found = check(make_host(CPUS | files), spinning(*((1000, 0, core) for core in cores)))
    assert found.level is level
    if level is Level.AMBER:
        named = ",".join(map(str, cores))
        assert f"isolcpus=managed_irq,domain,{named} nohz_full={named}" in found.remedy


@pytest.mark.parametrize("check", [kernel.isolation, kernel.tick])
def test_a_kernel_without_the_list_is_amber(make_host, check):
    assert check(make_host(CPUS), spinning((1000, 0, 2))).level is Level.AMBER


def test_a_rig_that_takes_every_core_is_told_to_leave_the_first(make_host):
    files = {"/sys/devices/system/cpu/online": "0-1\n", "/sys/devices/system/cpu/isolated": "\n"}
    remedy = kernel.isolation(make_host(files), spinning((200, 0, 0), (1000, 0, 1))).remedy
    assert "isolcpus=managed_irq,domain,1 " in remedy
    assert remedy.endswith("core = 1")


def test_a_lone_core_cannot_be_isolated(make_host):
    files = {"/sys/devices/system/cpu/online": "0\n", "/sys/devices/system/cpu/isolated": "\n"}
    assert "more than one core" in kernel.isolation(make_host(files), spinning((200, 0, 0))).remedy
