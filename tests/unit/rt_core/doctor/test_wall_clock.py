"""The clock of a shared machine is not to be touched: the C library's answer is changed instead."""

import os
import shutil
import subprocess
import sys

import pytest

SHIM = """
#include <sys/timex.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
int adjtimex(struct timex *t) {
    memset(t, 0, sizeof *t);
    if (getenv("REFUSED")) { errno = EPERM; return -1; }
    t->status = atoi(getenv("STATUS"));
    t->freq = 65536L * atoi(getenv("PPM"));
    return 0;
}
"""
CODE = """
from rt_core.doctor.wall_clock import wall_clock
from rt_core.doctor.check import Demands
from rt_core.host.facts import Host
check = wall_clock(Host(), Demands())
print(check.level.value, check.found)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("no compiler")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "shim.c", "-o", "shim.so"], cwd=folder, check=True)
    return folder / "shim.so"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"STATUS": "1", "PPM": "-12"}, "green synchronised, steered by -12.0 ppm"),
        ({"STATUS": "64", "PPM": "0"}, "amber no time service"),
        ({"STATUS": "1", "PPM": "480"}, "amber steered by +480 ppm"),
        ({"REFUSED": "1"}, "amber unknown: adjtimex is refused"),
    ],
)
def test_the_state_of_the_clock_is_told(shim, answer, said):
    env = os.environ | {"LD_PRELOAD": str(shim)} | answer
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, env=env, timeout=60
    )
    assert done.stdout.startswith(said), done
