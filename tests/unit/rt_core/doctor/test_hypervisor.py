import gzip
import os
import threading
import time

import pytest

from rt_core.doctor import hypervisor
from rt_core.doctor.check import Demands, Level
from rt_core.host.facts import Host

VIRTUAL = {"/proc/cpuinfo": "processor : 0\nflags : fpu tsc hypervisor\n"}
BUILT = {"/proc/config.gz": gzip.compress(b"CONFIG_PARAVIRT_TIME_ACCOUNTING=y\n")}
NOT_BUILT = {"/proc/config.gz": gzip.compress(b"# CONFIG_PARAVIRT_TIME_ACCOUNTING is not set\n")}


def stat(steal, idle):
    return f"cpu  100 0 50 {idle} 1 0 2 {steal} 7 0\ncpu0 50 0 25 1 1 0 1 1 0 0\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stolen", "idle", "level", "told"),
    [
        (0, 100, Level.GREEN, "0.0 %"),
        (2, 98, Level.AMBER, "2.0 % of 0.5 s (2 of 100 ticks)"),
        (7, 93, Level.RED, "7.0 %"),
    ],
)
def test_steal_is_measured_between_two_readings(make_host, stolen, idle, level, told):
    host = make_host({"/proc/stat": stat(5000, 9000)}, sample_s=0.5)
    first = threading.Event()

    def later():
        # between the two readings, both of which are of this file
        first.wait()
        os.replace(changed, host.path("/proc/stat"))

    changed = host.path("/proc/changed")
    changed.write_text(stat(5000 + stolen, 9000 + idle))
    writer = threading.Thread(target=later)
    writer.start()
    threading.Timer(0.2, first.set).start()
    check = hypervisor.steal(host, Demands())
    writer.join()
    assert check.level is level
    assert check.found.startswith(told)


@pytest.mark.parametrize("files", [{}, {"/proc/stat": "cpu  1 2 3 4\n"}])
def test_unknown_steal_is_amber(make_host, files):
    assert hypervisor.steal(make_host(files), Demands()).found.startswith("unknown")


def test_real_steal_takes_as_long_as_it_says():
    began = time.monotonic()
    check = hypervisor.steal(Host(sample_s=0.2), Demands())
    assert time.monotonic() - began >= 0.2
    assert "% of 0.2 s" in check.found


def told(ticks):
    return {"/proc/stat": stat(ticks, 9000), "/proc/uptime": "7200.00 14000.00\n"}


def test_steal_that_was_told_is_accounted_for(make_host):
    check = hypervisor.steal_accounting(make_host(VIRTUAL | BUILT | told(5000)), Demands())
    assert (check.level, check.found) == (Level.GREEN, "5000 ticks reported since boot")


def test_a_machine_without_a_hypervisor_needs_no_accounting(make_host):
    files = {"/proc/cpuinfo": "flags : fpu tsc\n"} | NOT_BUILT | told(0)
    assert hypervisor.steal_accounting(make_host(files), Demands()).level is Level.GREEN


@pytest.mark.parametrize(
    ("files", "found", "remedy"),
    [
        (NOT_BUILT | told(5000), "without CONFIG_PARAVIRT_TIME_ACCOUNTING", "apt install"),
        (
            BUILT | told(0) | {"/proc/cmdline": "quiet no-steal-acc root=/dev/vda1"},
            "switched off by no-steal-acc",
            "update-grub",
        ),
        (BUILT | told(0), "not a tick in 2.0 h", "steal-time"),
        (BUILT, "unknown: no steal column", "steal-time"),
        (
            BUILT | {"/proc/stat": stat(0, 9), "/proc/uptime": "42.1 80.0\n"},
            "unknown: nothing stolen in 42 s",
            "look again",
        ),
    ],
)
def test_steal_that_is_not_told_is_amber(make_host, files, found, remedy):
    check = hypervisor.steal_accounting(make_host(VIRTUAL | files), Demands())
    assert check.level is Level.AMBER
    assert found in check.found
    assert remedy in check.remedy


def test_the_steal_of_this_machine_is_read(make_host):
    # whatever it is: a check of the real host never ends in an error
    check = hypervisor.steal_accounting(Host(), Demands())
    assert check.found
    if check.level is not Level.GREEN:
        assert check.remedy
