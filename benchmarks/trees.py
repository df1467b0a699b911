"""Trees in joint coordinates: the time to build them, of their accelerations and of a step.

    python benchmarks/trees.py [--links 10] [--json FILE]

arm        seven pins in space from a URDF: reading, generation, compilation and proof of its kernel; accelerations;
           a step of RK4 at 1 ms with its outputs, beside MuJoCo's RK4 where mujoco is installed
chain      pins about x, y and z in turn, `--links` of them: accelerations, ns a hinge

Accelerations are timed inside the kernel's own text: a loop in C around the routine, positions changed a little each
time. Each figure is the least of several rounds. Exit code 0: every bar holds. 1: one does not.
"""

from __future__ import annotations

import ctypes
import json
import math
import tempfile
import time
from pathlib import Path
from string import Template
from typing import Annotated

import numpy as np
import typer

from codegen.description.mechanism import Mechanism
from codegen.importers.natural import write
from codegen.importers.robot_file import import_file
from codegen.importers.tree import Joint, Link, Tree
from codegen.kernels.build import build_kernel, compile_shared
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets import c99

OPTIONS = KernelOptions(formulation="articulated", step_s=1e-3)
ROUNDS = 15
BARS = {"build_s": 4.0, "accelerations_us": 0.5, "step_us": 2.2}
CHAIN_BARS_NS = {10: 70.0, 100: 80.0, 500: 90.0}  # a hinge
LOOP = """\
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
    const double none[1] = {0.0};
    if (${name}_reset(kernel, none, none) != 0)
        return 1;
    made = (Data *)(void *)kernel;
    return 0;
}

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

__attribute__((visibility("default"))) double step_ns(long count)
{
    const double begin_ns = now_ns();
    for (long k = 0; k < count; k++)
        if (take(made) != 0)
            return 0.0;
    return (now_ns() - begin_ns) / (double)count;
}
"""


def arm_urdf() -> str:
    """Seven pins, each across the last one, with links of some kilograms and centres off their axes."""
    lines = ['<robot name="arm">', '<link name="base"/>']
    parent = "base"
    for k in range(7):
        turned = (0.0, -90.0, 90.0, 90.0, -90.0, -90.0, 90.0)[k]
        offset = (0.34, 0.0, 0.4, 0.0, 0.4, 0.0, 0.126)[k]
        mass = (5.76, 6.35, 3.5, 3.5, 3.5, 1.8, 1.2)[k]
        at = f"0 0 {offset}" if k == 0 else f"0 {-offset * math.sin(math.radians(turned)):.6g} 0"
        lines += [
            f'<link name="l{k}"><inertial><origin xyz="0.0{k + 1} -0.03 0.12"/><mass value="{mass}"/>'
            f'<inertia ixx="{0.033 + 0.002 * k}" iyy="0.033" izz="0.0123" ixy="0.0005" ixz="0.0003" '
            'iyz="-0.0007"/></inertial></link>',
            f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{at}" rpy="{math.radians(turned)!r} 0 0"/><axis xyz="0 0 1"/>'
            '<dynamics damping="0.1"/></joint>',
        ]
        parent = f"l{k}"
    return "\n".join([*lines, "</robot>"])


def chain(links: int) -> Mechanism:
    """Pins about x, y and z in turn, bodies with centres off their axes."""
    tree = Tree(gravity=(0.0, 0.0, -9.81))
    for k in range(links):
        at = (0.1 * k, 0.02 * k, 0.0)
        axis = tuple(float(v) for v in np.eye(3)[k % 3])
        centre = (at[0] + 0.05, at[1] + 0.01, 0.02)
        joint = Joint(f"j{k}", "hinge", at, axis, 0.0, damping=0.01)  # type: ignore[arg-type]
        parent = f"b{k - 1}" if k else "ground"
        axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        tree.links.append(Link(f"b{k}", parent, (joint,), 1.0, centre, (0.01, 0.02, 0.015), axes))
    made = write(tree, f"chain_{links}", "")
    return made.build()


def timed(mechanism: Mechanism | Path, folder: Path, evaluations: int = 20_000) -> dict[str, float]:
    """Accelerations, `evaluations` a round, and a step, in us; the least of some rounds."""
    texts = c99.texts(program(mechanism, OPTIONS))
    name = next(key[:-2] for key in texts if key.endswith(".h"))
    work = folder / name
    inner = work / "text"
    inner.mkdir(parents=True)
    for file, text in texts.items():
        (inner / file).write_text(text)
    loop = Template(LOOP).substitute(name=name, sweep="articulate")
    loop = loop.replace(f'"{name}.c"', f'"text/{name}.c"')
    (work / "loop.c").write_text(loop)
    compile_shared(work, "loop.so", OPTIONS)
    library = ctypes.CDLL(str(work / "loop.so"))
    library.accelerations_ns.restype = library.step_ns.restype = ctypes.c_double
    found: dict[str, float] = {}
    for key, function, count in (
        ("accelerations_us", library.accelerations_ns, evaluations),
        ("step_us", library.step_ns, evaluations // 4),
    ):
        times = []
        for _ in range(ROUNDS):
            if library.bench_start() != 0:
                raise SystemExit(f"{name} does not start")
            times.append(function(ctypes.c_long(count)) / 1e3)
        found[key] = min(times)
    return found


def mujoco_step_us(urdf: Path) -> float | None:
    """A step of MuJoCo's RK4 at 1 ms; None where it is not installed."""
    try:
        import mujoco
    except ImportError:
        return None
    model = mujoco.MjModel.from_xml_path(str(urdf))
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    times = []
    for _ in range(ROUNDS):
        mujoco.mj_resetData(model, data)
        begin = time.perf_counter()
        mujoco.mj_step(model, data, nstep=2000)
        times.append((time.perf_counter() - begin) / 2000)
    return 1e6 * min(times)


def main(
    links: Annotated[int, typer.Option(help="Hinges of the chain.")] = 10,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures there.")
    ] = None,
) -> None:
    """Measure, and compare with the bars."""
    found: dict[str, float | None] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        urdf = folder / "arm.urdf"
        urdf.write_text(arm_urdf())
        begin = time.perf_counter()
        imported = import_file(urdf)
        path = imported.builder.save(folder)
        kernel = build_kernel(path, OPTIONS)
        found["build_s"] = time.perf_counter() - begin
        if kernel.from_cache:
            print("the kernel came from the cache: its build is not measured")
            found["build_s"] = kernel.checks["seconds"]
        found |= timed(path, folder)
        found["mujoco_step_us"] = mujoco_step_us(urdf)
        # a fixed time for each, whatever it is long
        count = max(40, 200_000 // links)
        found["chain_ns_a_hinge"] = (
            1e3 * timed(chain(links), folder, count)["accelerations_us"] / links
        )
    bars = BARS | ({"chain_ns_a_hinge": CHAIN_BARS_NS[links]} if links in CHAIN_BARS_NS else {})
    for key, value in found.items():
        if value is not None:
            bar = f"  bar {bars[key]:g}" if key in bars else ""
            print(f"{key:20} {value:8.3f}{bar}")
    if json_file is not None:
        json_file.write_text(json.dumps(found, indent=1))
    missed = [key for key, bar in bars.items() if (found[key] or 0.0) > bar]
    raise typer.Exit(1 if missed else 0)


if __name__ == "__main__":
    typer.run(main)
