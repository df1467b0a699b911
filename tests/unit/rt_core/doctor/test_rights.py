"""Rights, lost for real: by limits and capabilities of a child process."""

import json
import os
import subprocess
import sys

import pytest

CODE = """
import json, os, resource
from rt_core.doctor import rights
from rt_core.doctor.check import Demands, TaskDemand
from rt_core.host.facts import Host
{before}
check = rights.{check}(Host(), Demands((TaskDemand("fast", 200, 90, {core}),)))
print(json.dumps([check.level, check.found, check.remedy]))
"""


def said(check, core=None, before="", *wrapper):
    code = CODE.format(check=check, core=core, before=before)
    done = subprocess.run(
        [*wrapper, sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout, done
    return json.loads(done.stdout)


LIMITS = {
    "priority": "resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))",
    "memory_lock": "resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))",
}
WORDS = {
    "priority": ("RLIMIT_RTPRIO is 0", "rtprio 99"),
    "memory_lock": ("RLIMIT_MEMLOCK is 64 KiB", "memlock unlimited"),
}


@pytest.mark.parametrize("check", LIMITS)
def test_a_limit_without_the_capability_is_red(check):
    before = LIMITS[check] + ("\nos.setuid(65534)" if os.geteuid() == 0 else "")
    level, found, remedy = said(check, None, before)
    assert level == "red"
    assert WORDS[check][0] in found
    assert WORDS[check][1] in remedy


@pytest.mark.parametrize("check", LIMITS)
def test_root_of_a_user_namespace_is_not_taken_for_root(check):
    # its capabilities are many there, and count for nothing here
    unshare = ("unshare", "--user", "--map-root-user")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    level, found, _ = said(check, None, LIMITS[check], *unshare)
    assert level == "red"
    assert WORDS[check][0] in found


def test_a_right_that_is_held_is_green_and_given_back():
    code = CODE.format(check="priority", core=None, before="") + "print(os.sched_getscheduler(0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    check, policy = done.stdout.splitlines()
    if not check.startswith('["green"'):
        pytest.skip("no right to a priority here")
    assert int(policy) == os.SCHED_OTHER


def test_a_core_that_is_not_allowed_is_red():
    level, found, remedy = said("affinity", 4095)
    assert level == "red"
    assert "4095" in found
    assert remedy.startswith(f"core = {min(os.sched_getaffinity(0))} ")


def test_a_mask_of_the_process_narrows_the_cores():
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one core only")
    narrowed = f"os.sched_setaffinity(0, [{allowed[0]}])"
    assert said("affinity", allowed[1], narrowed)[0] == "red"
    assert said("affinity", allowed[0], narrowed)[0] == "green"
