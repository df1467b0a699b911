"""A chain of rods that bend on pins about y and z in turn: operations of its equations, and its time."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

from codegen.closed_trees.closed import closed_tree
from codegen.description.builder import MechanismBuilder
from codegen.description.fast_modes import KEPT, STABLE, fastest_rad_s
from codegen.description.mechanism import Mechanism
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign, C, Cost, Emitter
from codegen.kernels.build import compile_shared
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.system.system import System
from codegen.targets import c99
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations
from peers.kernel_loop import loop_text

LENGTH_M, SIDE_M, ROUNDS = 0.5, 0.02, 15


def chain(count: int, modes: int) -> Mechanism:
    """Steel rods of 0.5 m, each on the tip of the one before."""
    made = MechanismBuilder(f"chain_{count}_{modes}", gravity_m_s2=(0.0, 0.0, -9.81))
    before = "ground"
    for n in range(count):
        at, end = n * LENGTH_M, (n + 1) * LENGTH_M
        made.point(f"P{n}", position_m=(at, 0, 0))
        for letter, way in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
            made.unit_vector(f"e{letter}{n}", direction=way)
        made.flexible_body(
            f"b{n}", points=[f"P{n}"], vectors=[f"ex{n}", f"ey{n}", f"ez{n}"], frame="root", modes=modes,
            beam={
                "line_m": [(at, 0, 0), (end, 0, 0)], "density_kg_m3": 7850.0, "youngs_pa": 2.1e11, "shear_pa": 8e10,
                "area_m2": SIDE_M**2, "second_moment_m4": SIDE_M**4 / 12.0, "second_moment_2_m4": SIDE_M**4 / 12.0,
                "torsion_m4": 0.141 * SIDE_M**4, "elements": 6, "nodes": {"root": 0.0, "tip": 1.0},
            },
        )  # fmt: skip
        axis = (0, 1, 0) if n % 2 == 0 else (0, 0, 1)
        made.revolute(f"j{n}", bodies=[f"b{n}", before], point_m=(at, 0, 0), axis=axis)
        before = f"b{n}_tip"
    return made.build()


def operations(modes: int) -> dict[str, int]:
    """Floating-point operations of accelerations of ten rods, by articulated inertias and by the mass matrix."""
    mechanism = chain(10, modes)
    tree = in_joint_coordinates(mechanism)
    found = accelerations(tree.chain, tree.loads)
    swept = _flops(tree.made.system, list(found.values()))
    closed = closed_tree(mechanism).made.system
    n = len(closed.coordinates)
    # mass and forces, then L D L^T of all of it and two triangles
    mass = _flops(closed, [*closed.mass.values(), *closed.force.values()])
    return {"articulated": swept, "composite": mass + round(n**3 / 3 + 2 * n**2)}


def _flops(system: System, exprs: list[Expr]) -> int:
    bind = {c.q: f"q[{c.index}]" for c in system.coordinates}
    bind |= {c.qd: f"qd[{c.index}]" for c in system.coordinates}
    assigns = [Assign(f"a[{i}]", e) for i, e in enumerate(exprs)]
    cost: Cost = Emitter(C, bind).run(assigns)[1]
    return cost.mul + cost.add + 2 * cost.fma + cost.div


def times_us(folder: Path) -> dict[str, float]:
    """Microseconds of the accelerations of ten rods with five modes, and of 1 ms of their motion by two explicit rules,
    each at the longest step that the modes bear.
    """
    mechanism = chain(10, 5)
    omega, found = fastest_rad_s(mechanism), {}
    for rule in ("rk4", "semi_implicit_euler"):
        steps = math.ceil(1e-3 * omega / (KEPT * STABLE[rule]))
        options = KernelOptions(formulation="articulated", integrator=rule, step_s=1e-3 / steps)
        library = _library(folder / rule, mechanism, options)
        step_us = _least_us(library, library.step_ns, 500)
        found |= {f"chain_steps_{rule}": float(steps), f"chain_ms_{rule}_us": steps * step_us}
        found["chain_us"] = _least_us(library, library.accelerations_ns, 2000)
    return found


def _library(folder: Path, mechanism: Mechanism, options: KernelOptions) -> ctypes.CDLL:
    texts = c99.texts(program(mechanism, options))
    name = next(key[:-2] for key in texts if key.endswith(".h"))
    inner = folder / "text"
    inner.mkdir(parents=True)
    for file, text in texts.items():
        (inner / file).write_text(text)
    loop = loop_text(name, "articulate").replace(f'"{name}.c"', f'"text/{name}.c"')
    (folder / "loop.c").write_text(loop)
    compile_shared(folder, "loop.so", options)
    return ctypes.CDLL(str(folder / "loop.so"))


def _least_us(library: ctypes.CDLL, function: Any, count: int) -> float:
    function.restype = ctypes.c_double
    rounds = []
    for _ in range(ROUNDS):
        if library.bench_start() != 0:
            raise SystemExit("the chain does not start")
        rounds.append(function(ctypes.c_long(count)) / 1e3)
    return min(rounds)
