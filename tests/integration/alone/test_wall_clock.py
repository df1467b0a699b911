"""A wall clock that jumps by a day, for the processes of one run only: the loop does not see it."""

import shutil
import subprocess

import numpy as np
import pytest

from io_bridge.recording.record import open_record

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

typedef int (*clock_fn)(clockid_t, struct timespec *);

/* back by a day in every second tenth of a second */
static time_t step(void) {
    struct timespec now;
    ((clock_fn)dlsym(RTLD_NEXT, "clock_gettime"))(CLOCK_MONOTONIC, &now);
    return now.tv_nsec / 100000000 % 2 ? -86400 : 0;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = ((clock_fn)dlsym(RTLD_NEXT, "clock_gettime"))(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += step();
    return status;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec;
    now->tv_usec = t.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *now) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (now) *now = t.tv_sec;
    return t.tv_sec;
}
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no compiler")
    folder = tmp_path_factory.mktemp("shim")
    source, library = folder / "wall.c", folder / "wall.so"
    source.write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl"], check=True)
    return library


@pytest.mark.slow
def test_the_shim_moves_the_wall_clock_of_a_process(shim):
    code = (
        "import time; seen = set()\n"
        "until = time.monotonic() + 0.5\n"
        "while time.monotonic() < until: seen.add(round(time.time() / 86400, 2))\n"
        "print(len(seen) >= 2)"
    )
    done = subprocess.run(
        ["python3", "-c", code],
        env={"LD_PRELOAD": str(shim), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "True", done


@pytest.mark.slow
def test_a_wall_clock_that_jumps_costs_the_loop_nothing(shim, make_rig, rigloop, tmp_path):
    runs = tmp_path / "runs"
    done = rigloop(
        "run", make_rig(), "--for", "1", "--runs", runs, "--json", env={"LD_PRELOAD": str(shim)}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = runs.iterdir()
    record = open_record(folder / "estimation.npy")
    assert np.all(np.diff(record["t_ns"]) > 0)
    # nominal time and the count of periods belong together, whatever the wall clock did
    assert np.array_equal(np.diff(record["t_ns"]), record["loop/estimation/elapsed"][1:] * 200_000)
    assert not np.any(record["guard/trip"])
