"""Rights: what is missing is said, with its remedy; what is held is really held."""

import json
import os
import subprocess
import sys

import pytest

from rt_core.host.facts import host_facts, steal_ticks
from rt_core.host.rights import acquire_rights

REPORT = """
import json, os
from rt_core.host.rights import acquire_rights
{before}
print(json.dumps(acquire_rights({arguments}).as_dict()))
"""


def report(arguments="", before=""):
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(arguments=arguments, before=before)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_every_missing_right_has_a_reason_and_a_remedy():
    for right in report()["rights"]:
        assert right["why"]
        assert right["held"] or right["remedy"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give up root")
def test_an_ordinary_user_is_told_what_is_missing_and_how_to_get_it():
    found = report(before="os.setuid(65534)")
    rights = {right["name"]: right for right in found["rights"]}
    assert found["real_time"] is False
    assert not rights["fifo priority"]["held"]
    assert "rtprio" in rights["fifo priority"]["remedy"]
    assert not rights["memory lock"]["held"]
    assert "memlock" in rights["memory lock"]["remedy"]
    assert found["verdict"].startswith("not real-time: fifo priority")


def test_a_core_that_is_not_there_is_no_real_time():
    found = report("cores=[4095]")
    assert found["real_time"] is False
    assert "4095" in found["verdict"]


def test_a_held_memory_lock_shows_in_the_process_and_goes_with_release():
    rights = acquire_rights()
    try:
        if not any(right.held for right in rights.rights if right.name == "memory lock"):
            pytest.skip("no right to lock memory here")
        assert locked_kib() > 1000
    finally:
        rights.release()
    assert locked_kib() == 0
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def locked_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmLck:"))


def test_host_facts_are_plain_data():
    facts = json.loads(json.dumps(host_facts()))
    assert facts["kernel"] == os.uname().release
    assert facts["cpus"] == os.cpu_count()
    assert (steal_ticks() or 0) >= (facts["steal_ticks"] or 0)
