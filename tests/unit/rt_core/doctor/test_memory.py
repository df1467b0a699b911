import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_disk import with_small_disk

from rt_core.doctor import memory
from rt_core.doctor.check import Demands, Level
from rt_core.host.facts import Host

ANY = Demands()


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("MemTotal: 9 kB\nMemAvailable:   8388608 kB\n", Level.GREEN),
        ("MemAvailable:   524288 kB\n", Level.AMBER),
        ("MemAvailable:   131072 kB\n", Level.RED),
        ("MemTotal:   131072 kB\n", Level.AMBER),
    ],
)
def test_free_memory_is_judged_by_what_a_run_locks(make_host, text, level):
    check = memory.free(make_host({"/proc/meminfo": text}), ANY)
    assert check.level is level
    assert check.remedy or level is Level.GREEN


def test_swap_is_amber_with_the_area(make_host):
    header = "Filename\tType\tSize\tUsed\tPriority\n"
    assert memory.swap(make_host({"/proc/swaps": header}), ANY).level is Level.GREEN
    check = memory.swap(make_host({"/proc/swaps": header + "/dev/vda2 partition 1 0 -2\n"}), ANY)
    assert check.level is Level.AMBER
    assert check.found == "on: /dev/vda2"
    assert check.remedy.startswith("sudo swapoff -a")


def test_an_unreadable_list_of_swap_is_amber(make_host):
    assert memory.swap(make_host(), ANY).found.startswith("unknown")


def test_shared_memory_has_to_be_there(make_host):
    check = memory.shared(make_host(), ANY)
    assert (check.level, check.found) == (Level.RED, "no /dev/shm")
    assert memory.shared(make_host({"/dev/shm": None}), ANY).level is Level.GREEN


def test_shared_memory_has_to_be_writable(make_host):
    host = make_host({"/dev/shm": None})
    host.path("/dev/shm").chmod(0o555)
    if os.access(host.path("/dev/shm"), os.W_OK) and os.geteuid() != 0:
        pytest.skip("this file system ignores modes")
    code = (
        "import os, sys; from pathlib import Path; from rt_core.doctor import memory\n"
        "from rt_core.doctor.check import Demands; from rt_core.host.facts import Host\n"
        "host = Host(Path(sys.argv[1])); fd = os.open(host.root, os.O_RDONLY)\n"
        "if os.geteuid() == 0: os.fchdir(fd); os.setuid(65534); host = Host(Path('.'))\n"
        "print(memory.shared(host, Demands()).found)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, host.root], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "/dev/shm cannot be written", done


@pytest.mark.netns
def test_a_small_shared_memory_is_red(tmp_path):
    # a real, small tmpfs, in a mount namespace of its own
    shared = tmp_path / "dev/shm"
    shared.mkdir(parents=True)
    code = (
        "import sys; from pathlib import Path; from rt_core.doctor import memory\n"
        "from rt_core.doctor.check import Demands; from rt_core.host.facts import Host\n"
        "check = memory.shared(Host(Path(sys.argv[1])), Demands()); print(check.level.value, check.found)"
    )
    assert with_small_disk(shared, code, tmp_path).startswith("red 1 MiB left")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("always [madvise] never", Level.GREEN),
        ("always madvise [never]", Level.GREEN),
        ("[always] madvise never", Level.AMBER),
        ("something else", Level.AMBER),
    ],
)
def test_huge_pages_for_everybody_are_amber(make_host, text, level):
    place = "/sys/kernel/mm/transparent_hugepage/enabled"
    assert memory.huge_pages(make_host({place: text}), ANY).level is level
    assert memory.huge_pages(Host(Path("/nowhere")), ANY).level is Level.GREEN
