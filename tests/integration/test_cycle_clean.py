"""Nothing in the cycle faults a page, blocks but to wait, allocates, or needs Python: by counters, on the steering rig.

The loop runs in a process of its own with a preloaded library that counts the allocations of its task threads, while
a thread of Python holds the interpreter's lock for whole seconds.
"""

import json
import os
import subprocess
import sys

import pytest

COUNTER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <stddef.h>
/* allocations made by threads that are named rt:..., and proof that others are seen */
static long in_cycle, elsewhere;
static void note(void) {
    char name[16];
    prctl(PR_GET_NAME, name);
    long *count = strncmp(name, "rt:", 3) ? &elsewhere : &in_cycle;
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}
long allocations_in_cycle(void) { return __atomic_load_n(&in_cycle, __ATOMIC_RELAXED); }
long allocations_elsewhere(void) { return __atomic_load_n(&elsewhere, __ATOMIC_RELAXED); }
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { note(); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { note(); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { note(); return __libc_realloc(p, n); }
void free(void *p) { if (p) note(); __libc_free(p); }
void *mmap(void *a, size_t n, int p, int f, int d, off_t o) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "mmap");
    note();
    return real(a, n, p, f, d, o);
}
"""

PROGRAM = """
import ctypes, gc, json, os, sys, time
from rigloop.compose import compose_live, make_bus
from rigloop.kernels import build_kernels
from rigloop.order import SUPERVISOR_SIGNALS
from rigloop.wiring import load
from rt_core.loop import Loop
from rt_core.rights import acquire_rights
from rt_core.table import SignalTable

count = ctypes.CDLL(None)
for name in ("allocations_in_cycle", "allocations_elsewhere"):
    getattr(count, name).restype = ctypes.c_long


def counters():
    found = {}
    for thread in os.listdir("/proc/self/task"):
        folder = f"/proc/self/task/{thread}"
        text = open(f"{folder}/stat").read()
        name = text.partition("(")[2].rpartition(")")[0]
        if name.startswith("rt:"):
            fields = text.rpartition(")")[2].split()
            lines = dict(x.split(":") for x in open(f"{folder}/status").read().splitlines() if "ctxt" in x)
            found[name[3:]] = {
                "minor": int(fields[7]), "major": int(fields[9]),
                "waits": int(lines["voluntary_ctxt_switches"]),
            }
    for name in found:
        found[name]["cycle"] = table.value(f"loop/{name}/cycle")
    return found


loaded = load("steering_wheel")
rights = acquire_rights(90)
bus = make_bus(loaded.rig, "simulated", "")
composed = compose_live(loaded.rig, build_kernels(loaded), bus)
with bus:
    bus.to_op(5.0)
    with SignalTable.create(sys.argv[1], composed.plan) as table:
        gc.freeze()
        gc.disable()
        with Loop(composed.plan, table, fifo=rights.fifo, safe=composed.safe) as loop:
            beat = 0

            def live(seconds):
                global beat
                until = time.monotonic() + seconds
                while time.monotonic() < until:
                    beat += 1
                    table.publish({
                        "supervisor/heartbeat": beat, "supervisor/enable": 1.0,
                        "supervisor/arm": float(beat > 20),
                    })
                    time.sleep(0.02)

            live(1.5)
            state = table.value("guard/state")
            before, allocated = counters(), count.allocations_in_cycle()
            cycles = []
            for _ in range(int(sys.argv[2])):
                live(0.4)
                # one C call that never lets go of the lock: whoever needs Python waits here
                begin = table.value("loop/estimation/cycle")
                since = time.monotonic()
                sum(range(8_000_000))
                cycles.append([table.value("loop/estimation/cycle") - begin, time.monotonic() - since])
            after, allocated_after = counters(), count.allocations_in_cycle()
print(json.dumps({
    "before": before, "after": after, "locked": cycles, "state": state,
    "allocations": allocated_after - allocated, "elsewhere": count.allocations_elsewhere(),
    "memory_lock": any(r.held for r in rights.rights if r.name == "memory lock"),
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    (folder / "counter.c").write_text(COUNTER)
    library = folder / "counter.so"
    subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-o", library, folder / "counter.c", "-ldl"], check=True
    )
    # in memory: a disk's file system takes the table's pages back to write them out
    table = f"/dev/shm/rigloop-clean-{os.getpid()}"
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, table, os.environ.get("RIGLOOP_CLEAN_ROUNDS", "5")],
            capture_output=True,
            text=True,
            timeout=600,
            env=os.environ | {"LD_PRELOAD": str(library)},
        )
    finally:
        if os.path.exists(table):
            os.unlink(table)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def tasks(seen):
    assert set(seen["before"]) == set(seen["after"]) == {"estimation", "simulation"}
    for name, before in seen["before"].items():
        yield name, {key: seen["after"][name][key] - before[key] for key in before}


def test_the_cycles_ran(seen):
    for _, change in tasks(seen):
        assert change["cycle"] > 500


def test_no_page_is_faulted_in(seen):
    for name, change in tasks(seen):
        assert (change["minor"], change["major"]) == (0, 0), name


def test_nothing_is_allocated(seen):
    assert seen["allocations"] == 0
    # the counter does count
    assert seen["elsewhere"] > 1000


def test_a_cycle_blocks_once_at_most_and_that_is_its_wait(seen):
    # counters are read while cycles go on
    for name, change in tasks(seen):
        assert change["waits"] <= change["cycle"] + 3, name


def test_cycles_go_on_while_python_is_locked(seen):
    for cycles, seconds in seen["locked"]:
        assert cycles > 0.1 * seconds / 200e-6
