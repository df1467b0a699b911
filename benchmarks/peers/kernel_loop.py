"""The text around a generated kernel that times its step and, in joint coordinates, its accelerations and forces."""

from __future__ import annotations

from string import Template

BEGIN = """\
#include "${name}.c"
#include <time.h>

static Data *made;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

__attribute__((visibility("default"))) int bench_start(void)
{
    static ${name}_memory memory;
    ${name} *const kernel = ${name}_init(&memory);
    static const double none[64];
    if (${name}_reset(kernel, none, none) != 0)
        return 1;
    made = (Data *)(void *)kernel;
    return 0;
}
"""
SWEEPS = """\

__attribute__((visibility("default"))) double accelerations_ns(long count)
{
    State *const s = &made->states[made->now];
    const double begin_ns = now_ns();
    for (long k = 0; k < count; k++) {
        // no evaluation can be taken for the last one
        s->q[0] += 1e-9 * s->qdd[N_Q - 1];
        ${sweep}(&made->work, s);
    }
    return (now_ns() - begin_ns) / (double)count;
}

__attribute__((visibility("default"))) void accelerations_at(const double *q, const double *qd, double *qdd)
{
    State *const s = &made->states[made->now];
    for (int i = 0; i < N_Q; i++) {
        s->q[i] = q[i];
        s->qd[i] = qd[i];
    }
    ${sweep}(&made->work, s);
    for (int i = 0; i < N_Q; i++)
        qdd[i] = s->qdd[i];
}

__attribute__((visibility("default"))) double forces_ns(long count)
{
    // accelerations, then outputs with what they ask for: forces of all joints, if of one
    State *const s = &made->states[made->now];
    const double begin_ns = now_ns();
    for (long k = 0; k < count; k++) {
        s->q[0] += 1e-9 * s->qdd[N_Q - 1];
        ${sweep}(&made->work, s);
        observe(&made->work, s);
    }
    return (now_ns() - begin_ns) / (double)count;
}

__attribute__((visibility("default"))) double shown(int output)
{
    return made->outputs[output];
}
"""
STEP = """\

__attribute__((visibility("default"))) double step_ns(long count)
{
    const double begin_ns = now_ns();
    for (long k = 0; k < count; k++)
        if (take(made) != 0)
            return 0.0;
    return (now_ns() - begin_ns) / (double)count;
}
"""


def loop_text(name: str, sweep: str | None) -> str:
    """Return the C text that includes `name.c` and times it; `sweep` is the kernel's routine of accelerations."""
    text = BEGIN + (SWEEPS if sweep else "") + STEP
    return Template(text).substitute(name=name, sweep=sweep)
