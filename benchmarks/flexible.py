"""Bodies that bend: the step of a column with ten modes and of its observer, and motions against exact solutions.

    python benchmarks/flexible.py [--build] [--only NAME] [--json FILE]

column     a shaft with ten modes of torsion and bending between motor and wheel: a step of its kernel at 1 ms, and a
           cycle of errorEKF over it with encoder, two strain gauges, motor torque, and an unknown torque and force of
           the hands; slopes held, and found in each cycle
spin-up    a beam of five modes on a hub that is guided to 6 rad/s, beyond its first frequency: largest error of its tip
           over 20 s at 1 ms; and its stretch by the spin, against the closed form
crank      a slider-crank whose rod bends in three modes, guided at 150 rad/s: largest error of its middle over 0.1 s
beams      four published cases (Bauchau and others 2016): the Princeton beam as four bodies, how far its tip is out of
           the printed spread; the four-bar with a crooked pin against Exudyn (left out without it); a deep beam under
           up to 0.8 of the load that turns it over, against exact beam theory; a shaft with a disc beside it through
           its critical speed, against linear rotor dynamics
angle      six frequencies of a right-angled frame against exact dynamic stiffness, percent
chain      ten rods in space with five modes each on pins about y and z in turn: accelerations by articulated
           inertias; 1 ms of their motion by explicit rules at the longest step that their modes bear, and beside it
           a step of 1 ms of Exudyn's floating frame of reference, over the same rods of bricks (left out without
           Exudyn). The bar is for the symplectic Euler rule; modes of some kHz are followed by neither
gate       the nine cases of the observability gate on a vehicle's body; each refusal names force and remedy
forces     six unknown forces on that body by twelve modes, ten strain gauges and a gyroscope: largest error of one of
           them beside its size, against 64 modes (`rigloop bench flexible`)
flops      floating-point operations of the accelerations of ten rods with 1, 5 and 10 modes, by articulated
           inertias, and by the mass matrix with its factor, beside the printed ones (Jain and Rodriguez)

Each time is the least of several rounds over arrays. `--build` builds the kernels first, which takes longer than all
else. Exit code 0: every bar holds. 1: one does not.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from beams.cases import buckling, princeton, rotating_shaft
from beams.four_bar import difference_percent
from beams.motions import cranked, spun_up, stretched
from beams.right_angle import worst_percent
from peers.flexible_chains import LENGTH_M, SIDE_M, operations, times_us

import rigloop
from codegen.description.builder import MechanismBuilder

ROUNDS, CYCLES = 7, 2000
BARS = {
    "step_us": 2.0,
    "observer_held_us": 10.0,
    "spin_up_m": 2e-5,
    "stretch_percent": 0.5,
    "crank_m": 2e-5,
    "princeton_9n_percent": 0.5,
    "princeton_13n_percent": 0.5,
    "four_bar_percent": 1.0,
    "buckling_percent": 2.0,
    "shaft_percent": 2.0,
    "angle_percent": 0.1,
    "chain_us": 10.0,
    "worst_force_percent": 5.0,
}
LEAST = {"exudyn_ratio": 30.0, "gate_held": 9.0}
PRINTED = {  # by modes of a body
    "articulated": {1: 10_870, 5: 39_870, 10: 91_400},
    "composite": {1: 17_140, 5: 146_780, 10: 664_255},
}
PARTS = ("column", "motions", "beams", "angle", "chain", "gate", "forces", "flops")
STATES = ("motor", *(f"column_mode{i + 1}" for i in range(10)))


def column(folder: Path) -> Path:
    """The column of `rig_configs/mechanisms/flexible_column.toml` with ten modes."""
    made = MechanismBuilder("column_10", gravity_m_s2=(0, 0, 0)).angle("motor")
    made.point("spoke", position_m=(0, 0, 1), moves="yz")
    made.rotation(
        "motor", angle="motor", axis=(1, 0, 0), zero=(0, 0, 1), point="spoke", centre_m=(0, 0, 0)
    )
    made.inertia("rotor", angle="motor", inertia_kg_m2=0.02)
    made.flexible_body(
        "column", points=[(0, 0, 0), "spoke"], axis=(1, 0, 0), frame=("drive", "bearing"), modes=10, damping_ratio=0.01,
        beam={
            "line_m": [(0, 0, 0), (0.8, 0, 0)], "across": (0, 0, 1), "density_kg_m3": 7850.0, "youngs_pa": 2.1e11,
            "shear_pa": 8e10, "diameter_m": 0.014, "elements": 20,
            "nodes": {"drive": 0.0, "bearing": 0.8, "wheel": 1.0},
            "masses": {"wheel": {"mass_kg": 2.0, "inertia_kg_m2": (0.04, 0.02, 0.02)}},
            "gauges": {
                "twist": {"at": 0.5, "offset_m": (0, 0, 0.007), "measures": "shear"},
                "bow": {"at": 0.75, "offset_m": (0, 0, 0.007)},
            },
        },
    )  # fmt: skip
    made.wrench(
        "hands", body="column_wheel", point_m=(0.8, 0, 0), force_n=[0.0, 0.0, {"input": 0.0}],
        torque_nm=[{"input": 0.0}, 0.0, 0.0],
    )  # fmt: skip
    made.force("motor", angle="motor", torque_nm={"input": 0.0})
    made.output("motor/angle_rad", "motor")
    made.output("twist/strain", "flexible_body.column.strain_twist")
    return made.output("bow/strain", "flexible_body.column.strain_bow").save(folder)


def column_times(folder: Path) -> dict[str, float]:
    """Microseconds of a step, and of a cycle of each observer; error of the hands' torque."""
    path = column(folder)
    body = rigloop.mechanism(path, step_s=1e-3)
    t = 1e-3 * np.arange(CYCLES)
    hands = 5.0 * np.sin(2.0 * math.pi * 2.0 * t)
    inputs = {"input/wrench/hands/torque_x_nm": hands, "input/force/motor/torque_nm": -0.9 * hands}
    motion = body.run(inputs)
    found = {"step_ali3p_us": _least(lambda: body.run(inputs))}
    # in the coordinates of its joint and modes, implicit too; its text takes minutes to generate
    tree = rigloop.mechanism(path, step_s=1e-3, formulation="semi_recursive")
    found["step_us"] = _least(lambda: tree.run(inputs))
    std = {"encoder": 1.75e-6, "twist": 5e-9, "bow": 1.3e-9}
    sensors: dict[str, dict[str, Any]] = {
        "encoder": {"kind": "encoder", "angle": "motor", "std": std["encoder"]},
        "twist": {"kind": "strain_gauge", "body": "column", "gauge": "twist", "std": std["twist"]},
        "bow": {"kind": "strain_gauge", "body": "column", "gauge": "bow", "std": std["bow"]},
    }
    read = {"encoder": "motor/angle_rad", "twist": "twist/strain", "bow": "bow/strain"}
    rng = np.random.default_rng(0)
    samples = {k: motion[port] + std[k] * rng.normal(size=CYCLES) for k, port in read.items()}
    samples |= {"input/force/motor/torque_nm": inputs["input/force/motor/torque_nm"]}
    for transition in ("held", "discrete"):
        observer = rigloop.observer(
            path, sensors, acceleration_noise=[3e-4] * 11, independent=STATES, transition=transition, step_s=1e-3,
            unknown=("wrench/hands/force_z_n", "wrench/hands/torque_x_nm"),
            start_std=[1.0, *[1e-3] * 10, 1.0, *[0.1] * 10, 30.0, 10.0],
            input_noise={"wrench/hands/force_z_n": 3.0, "wrench/hands/torque_x_nm": 60.0},
        )  # fmt: skip
        shown = observer.run(samples)
        error = shown["wrench/hands/torque_x_nm"][500:] - hands[500:]
        found[f"torque_{transition}_nm"] = float(np.sqrt(np.mean(error**2)))
        found[f"observer_{transition}_us"] = _least(lambda: observer.run(samples))  # noqa: B023
    return found


def _least(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) / CYCLES * 1e6)
    return min(times)


def flops() -> dict[str, float]:
    """Operations, and each as a share of the printed number."""
    found = {}
    for modes in (1, 5, 10):
        for of, count in operations(modes).items():
            found[f"flops_{of}_{modes}"] = float(count)
            found[f"flops_{of}_{modes}_share"] = count / PRINTED[of][modes]
    return found


def chain_times(folder: Path) -> dict[str, float]:
    """Times of the chain, and of Exudyn's."""
    found = times_us(folder / "chain")
    if find_spec("exudyn") is None:
        return found
    from peers.exudyn_chain import step_us

    theirs = step_us(10, 5, LENGTH_M, SIDE_M)
    return found | {
        "exudyn_ms_us": theirs,
        "exudyn_rk4_ratio": theirs / found["chain_ms_rk4_us"],
        "exudyn_ratio": theirs / found["chain_ms_semi_implicit_euler_us"],
    }


def six_forces() -> dict[str, float]:
    """The error of each of six forces, percent, and of the worst one."""
    from rigloop.bench.flexible.flexible import run

    outcome, _, _ = run()
    found = {f"{f.name.replace('/', '_')}_percent": f.percent for f in outcome.forces}
    worst = max(f.percent for f in outcome.forces)
    return found | {"worst_force_percent": worst, "vehicle_step_us": outcome.step_us}


def gate_held() -> float:
    """Count the cases in which the gate is right."""
    from rigloop.bench.flexible.gate import cases

    return float(sum(case.held for case in cases()))


def main(
    build: Annotated[bool, typer.Option(help="Build the kernels, and measure nothing.")] = False,
    only: Annotated[list[str] | None, typer.Option(help=f"Any of {', '.join(PARTS)}.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures here.")
    ] = None,
) -> None:
    """Measure bodies that bend."""
    global ROUNDS
    if build:
        ROUNDS = 1
    parts = only or PARTS
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "column" in parts:
            found |= column_times(folder)
        if "motions" in parts:
            found |= {"spin_up_m": spun_up(folder), "crank_m": cranked(folder)}
            found["stretch_percent"] = stretched(folder)
        if "beams" in parts:
            found |= princeton(folder) | buckling(folder) | rotating_shaft(folder)
            if find_spec("exudyn") is not None:
                found |= difference_percent(folder)
        if "angle" in parts:
            found["angle_percent"] = worst_percent()
        if "chain" in parts:
            found |= chain_times(folder)
        if "gate" in parts:
            found["gate_held"] = gate_held()
        if "forces" in parts:
            found |= six_forces()
        if "flops" in parts:
            found |= flops()
    if json_file:
        json_file.write_text(json.dumps(found, indent=2))
    lost = []
    for key, value in found.items():
        bar = 1.0 if key.endswith("_share") else BARS.get(key)
        if (bar is not None and value > bar) or value < LEAST.get(key, value):
            lost.append(key)
        told = f"   bar {bar:g}" if bar is not None else ""
        told = f"   bar {LEAST[key]:g} or more" if key in LEAST else told
        print(f"{key:28} {value:12.4g}{told}")
    print("all bars hold" if not lost else f"missed: {', '.join(lost)}")
    raise typer.Exit(1 if lost and not build else 0)


if __name__ == "__main__":
    typer.run(main)
