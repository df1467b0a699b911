"""Trees in joint coordinates: the time to build them, of their accelerations and of a step, beside peers.

    python benchmarks/trees.py [--links 10 --links 100 --links 500] [--pendulums] [--json FILE]

arm        seven pins in space from a URDF: reading, generation, compilation and proof of its kernel; accelerations;
           a step of RK4 at 1 ms with its outputs, beside MuJoCo's RK4, with the error of both after 1 s
chain      pins about x, y and z in turn, `--links` of them: accelerations, ns a hinge, beside MuJoCo and Pinocchio
tree       thirty pins in a random tree: accelerations, beside the same two
loops      spatial steering and a double-wishbone axle: a step in the file's coordinates and in those of the tree, and
           whether `rigloop model show` advises the cheaper one, or says that they are too near to rank
pendulums  a hundred of 1 m, let go horizontally, for 10 s: errors at 2 and 1 ms against a run at 0.1 ms

Accelerations are timed inside the kernel's own text: a loop in C around the routine, positions changed a little each
time; those of peers are called from Python. Each figure is the least of several rounds. Peers (`pip install
".[bench]"`) are left out where they are not installed. Exit code 0: every bar holds. 1: one does not.
"""

from __future__ import annotations

import ctypes
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from peers.kernel_loop import loop_text
from peers.tree_cases import DAMPING, arm_urdf, chain, pendulums, random_tree
from peers.tree_models import mujoco_model, mujoco_us, pinocchio_model, pinocchio_us

from codegen.analysis.formulation_costs import CLOSES, NEAR, formulation_costs
from codegen.description.mechanism import Mechanism, load
from codegen.importers.natural import write
from codegen.importers.robot_file import import_file
from codegen.importers.tree import Tree
from codegen.kernels.build import build_kernel, compile_shared
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets import c99

OPTIONS = KernelOptions(formulation="articulated", step_s=1e-3)
ROUNDS = 15
BARS = {"build_s": 4.0, "accelerations_us": 0.5, "step_us": 2.2, "tree_30_us": 2.4}
CHAIN_BARS_NS = {10: 70.0, 100: 80.0, 500: 90.0}  # a hinge
AGREE = 1e-9  # accelerations beside those of peers, of the largest one


def timed(
    mechanism: Mechanism | Path,
    folder: Path,
    evaluations: int = 20_000,
    options: KernelOptions = OPTIONS,
) -> tuple[dict[str, float], Any]:
    """Accelerations (of `articulated`), `evaluations` a round, and a step, in us; and the library."""
    made = program(mechanism, options)
    texts = c99.texts(made)
    name = next(key[:-2] for key in texts if key.endswith(".h"))
    work = folder / f"{name}_{options.formulation}"
    inner = work / "text"
    inner.mkdir(parents=True)
    for file, text in texts.items():
        (inner / file).write_text(text)
    is_tree = options.formulation == "articulated"
    loop = loop_text(name, "articulate" if is_tree else None)
    (work / "loop.c").write_text(loop.replace(f'"{name}.c"', f'"text/{name}.c"'))
    compile_shared(work, "loop.so", options)
    library = ctypes.CDLL(str(work / "loop.so"))
    library.names = [c.name for c in made.mechanism.system.coordinates]
    works = [("step_us", library.step_ns, evaluations // 4)]
    if is_tree:
        works.append(("accelerations_us", library.accelerations_ns, evaluations))
    found: dict[str, float] = {}
    for key, function, count in works:
        function.restype = ctypes.c_double
        times = []
        for _ in range(ROUNDS):
            if library.bench_start() != 0:
                raise SystemExit(f"{name} does not start")
            times.append(function(ctypes.c_long(count)) / 1e3)
        found[key] = min(times)
    return found, library


def beside_peers(tree: Tree, name: str, folder: Path) -> dict[str, float]:
    """Accelerations of pins, in us, ours and those of peers, and how far they differ."""
    links = len(tree.links)
    mechanism = write(tree, name, "").build()
    # a fixed time for each, whatever it is long
    count = max(40, 200_000 // links)
    found, library = timed(mechanism, folder, count)
    us = {"ours": found["accelerations_us"]}
    state = np.random.default_rng(2).uniform(-0.5, 0.5, (2, links))
    qdd = np.zeros(links)
    order = [int(name.removeprefix("j")) for name in library.names]
    rows = [np.ascontiguousarray(row) for row in (*state[:, order], qdd)]
    pointers = [ctypes.c_void_p(row.ctypes.data) for row in rows]
    if library.bench_start() != 0:
        raise SystemExit(f"{name} does not start")
    library.accelerations_at(*pointers)
    qdd = np.zeros(links)
    qdd[order] = rows[-1]
    peers = {
        "mujoco": mujoco_us(mujoco_model(tree.links, tree.gravity), count // 4 + 1, state),
        "pinocchio": pinocchio_us(
            pinocchio_model(tree.links, tree.gravity), count // 4 + 1, state, DAMPING
        ),
    }
    for peer, told in peers.items():
        if told is not None:
            us[peer], exact = told
            gap = np.max(np.abs(qdd - exact)) / np.max(np.abs(exact))
            print(f"{name}: accelerations as {peer} to {gap:.1e}")
            us[f"{peer}_gap"] = float(gap)
    return us


def mujoco_arm(urdf: Path) -> tuple[Any, Any] | None:
    """Model and data of MuJoCo, RK4, without contacts; None where it is not installed."""
    try:
        import mujoco
    except ImportError:
        return None
    model = mujoco.MjModel.from_xml_path(str(urdf))
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return model, mujoco.MjData(model)


def mujoco_step_us(model: Any, data: Any) -> float:
    """A step of MuJoCo's RK4 at 1 ms."""
    import mujoco

    times = []
    for _ in range(ROUNDS):
        mujoco.mj_resetData(model, data)
        begin = time.perf_counter()
        mujoco.mj_step(model, data, nstep=2000)
        times.append((time.perf_counter() - begin) / 2000)
    return 1e6 * min(times)


def arm_errors(path: Path, peer: tuple[Any, Any] | None) -> dict[str, float]:
    """Largest error of the joints in rad after 1 s at 1 ms, against our own run at 0.1 ms, ours and MuJoCo's."""
    ends = {}
    for step_s in (1e-3, 1e-4):
        options = KernelOptions(formulation="articulated", step_s=step_s)
        kernel = build_kernel(path, options).module.Kernel()
        if kernel.reset() != 0:
            raise SystemExit("the arm does not start")
        for _ in range(round(1.0 / step_s)):
            if kernel.step() != 0:
                raise SystemExit("the arm stops")
        ends[step_s] = np.array(kernel.q)
    found = {"error_rad": float(np.max(np.abs(ends[1e-3] - ends[1e-4])))}
    if peer is not None:
        import mujoco

        model, data = peer
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, nstep=1000)
        found["mujoco_error_rad"] = float(np.max(np.abs(data.qpos - ends[1e-4])))
    return found


def loops(folder: Path) -> dict[str, float | str]:
    """Steps of loops in both kinds of coordinates, in us, and the formulation that is advised."""
    # mechanisms of the tests lie beside them
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "parts"))
    from mechanisms.wishbones import wishbone_axle

    found: dict[str, float | str] = {}
    for name, mechanism in (
        ("steering_rack", load("steering_rack")),
        ("wishbone_axle", wishbone_axle().build()),
    ):
        for formulation in CLOSES:
            options = KernelOptions(formulation=formulation, step_s=1e-3)
            us, _ = timed(mechanism, folder, 12_000, options)
            found[f"{name}/{formulation}_us"] = us["step_us"]
        costs = formulation_costs(mechanism)
        found[f"{name}/advised"] = costs.advised
        found[f"{name}/margin"] = 1.0 / NEAR if costs.is_near else 1.0
    return found


def swinging(folder: Path) -> dict[str, float]:
    """Errors in m of a hundred pendulums over 10 s, against a run at 0.1 ms."""
    path, runs = pendulums(100).save(folder), {}
    for step_s in (2e-3, 1e-3, 1e-4):
        options = KernelOptions(formulation="articulated", step_s=step_s)
        stepper = build_kernel(path, options).module.Kernel()
        count = round(10.0 / step_s)
        shown = np.zeros((count, 4))
        if stepper.reset() != 0:
            raise SystemExit("the pendulums do not start")
        done = stepper.run(np.zeros((count, 0)), shown, count)
        each = round(1e-2 / step_s)
        runs[step_s] = shown[each - 1 : done : each]
    exact = runs.pop(1e-4)
    return {
        f"{1e3 * step_s:g}_ms_m": float(np.max(np.abs(run - exact[: len(run)])))
        if len(run) == len(exact)
        else float("nan")
        for step_s, run in runs.items()
    }


def arm(folder: Path) -> dict[str, float]:
    """Build, accelerations, step and error of the arm from a URDF."""
    urdf = folder / "arm.urdf"
    urdf.write_text(arm_urdf())
    begin = time.perf_counter()
    path = import_file(urdf).builder.save(folder)
    kernel = build_kernel(path, OPTIONS)
    found: dict[str, float] = {"build_s": time.perf_counter() - begin}
    if kernel.from_cache:
        print("the kernel came from the cache: its build is not measured")
        found["build_s"] = kernel.checks["seconds"]
    found |= timed(path, folder)[0]
    peer = mujoco_arm(urdf)
    if peer is not None:
        found["mujoco_step_us"] = mujoco_step_us(*peer)
    return found | arm_errors(path, peer)


def main(
    links: Annotated[list[int] | None, typer.Option(help="Hinges of a chain; repeatable.")] = None,
    with_pendulums: Annotated[
        bool, typer.Option("--pendulums", help="Also 10 s of a hundred pendulums.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures there.")
    ] = None,
) -> None:
    """Measure, and compare with the bars."""
    bars, missed = dict(BARS), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found: dict[str, Any] = dict(arm(folder))
        for count in links or [10]:
            us = beside_peers(chain(count), f"chain_{count}", folder)
            for who in ("ours", "mujoco", "pinocchio"):
                if who in us:
                    found[f"chain_{count}_{who}_ns"] = 1e3 * us[who] / count
            missed += [
                f"chain_{count} {k}" for k, v in us.items() if k.endswith("gap") and v > AGREE
            ]
            if count in CHAIN_BARS_NS:
                bars[f"chain_{count}_ours_ns"] = CHAIN_BARS_NS[count]
        us = beside_peers(random_tree(30), "tree_30", folder)
        found["tree_30_us"] = us["ours"]
        found |= {f"tree_30_{who}_us": us[who] for who in ("mujoco", "pinocchio") if who in us}
        missed += [f"tree_30 {k}" for k, v in us.items() if k.endswith("gap") and v > AGREE]
        found |= loops(folder)
        for case in ("steering_rack", "wishbone_axle"):
            cheaper = min(CLOSES, key=lambda f, case=case: found[f"{case}/{f}_us"])
            advised_us = found[f"{case}/{found[f'{case}/advised']}_us"]
            if advised_us > found[f"{case}/margin"] * found[f"{case}/{cheaper}_us"]:
                missed.append(f"{case}: {cheaper} is cheaper than what is advised")
        if with_pendulums:
            found |= {f"pendulums/{key}": value for key, value in swinging(folder).items()}
    for key, value in found.items():
        if value is not None:
            bar = f"  bar {bars[key]:g}" if key in bars else ""
            print(
                f"{key:32} {value:>14.3g}{bar}"
                if isinstance(value, float)
                else f"{key:32} {value:>14}"
            )
    if json_file is not None:
        json_file.write_text(json.dumps(found, indent=1))
    missed += [key for key, bar in bars.items() if (found.get(key) or 0.0) > bar]
    # the same rule at the same step: round-off alone parts them
    if found["error_rad"] > 1.01 * found.get("mujoco_error_rad", np.inf):
        missed.append("error_rad: MuJoCo's is less")
    for words in missed:
        print(f"missed: {words}")
    raise typer.Exit(1 if missed else 0)


if __name__ == "__main__":
    typer.run(main)
