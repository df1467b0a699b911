"""The spatial reference tree: a free base, twelve bodies on pins, a slide, a ball, a universal joint, with springs."""

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from codegen.description.builder import MechanismBuilder

CASE = Path(__file__).parents[2] / "data" / "references" / "spatial_tree.json"


def spatial_tree():
    """The mechanism at the start of its exact motion `spatial_tree.csv`."""
    case = json.loads(CASE.read_text())
    made = MechanismBuilder("spatial_tree", gravity_m_s2=tuple(case["gravity"]))
    poses = {
        -1: (np.zeros(3), Rotation.identity(), np.zeros(3), np.zeros(3))
    }  # place, turn, their rates
    for number, body in enumerate(case["bodies"]):
        poses[number] = _placed(made, body, poses[body["parent"]])
        at, turn, *_ = poses[number]
        inertia = turn.as_matrix() @ np.array(body["inertia_com"]) @ turn.as_matrix().T
        name = body["name"]
        made.rigid_body(
            name, points=[f"{name}_at"], vectors=_axes(name), mass_kg=body["mass"],
            centre_m=(at + turn.apply(body["com"])).tolist(),
            inertia_kg_m2=[*np.diag(inertia).tolist(), *(float(inertia[i]) for i in ((0, 1), (0, 2), (1, 2)))],
        )  # fmt: skip
    for axis in "xyz":
        made.output(f"base/{axis}_m", f"base_at_{axis}")
    made.output("total_j", "energy")
    return made


def _axes(name):
    return [f"{name}_{axis}" for axis in "xyz"]


def _placed(made, body, below):
    """Add the point, directions and joint of a body; return its place, turn and their rates."""
    name, joint = body["name"], body["joint"]
    parent = f"b{body['parent']}" if body["parent"] > 0 else "base"
    at, turn, velocity, omega = below
    arm = turn.apply(body["placement"]["position"])
    at, velocity = at + arm, velocity + np.cross(omega, arm)
    turn = turn * _quaternion(body["placement"]["quaternion_wxyz"])
    bodies = {"bodies": [name, parent], "point_m": at.tolist()}
    match joint["type"]:
        case "free":
            at, turn = np.array(joint["q0"][:3]), _quaternion(joint["q0"][3:])
            velocity, omega = np.array(joint["qd0"][:3]), np.array(joint["qd0"][3:])
        case "revolute":
            turn, omega = _pin(made, name, joint, bodies, turn, omega)
        case "prismatic":
            way = turn.apply(joint["axis"])
            at = at + joint["q0"] * way
            velocity = velocity + joint["qd0"] * way + np.cross(omega, joint["q0"] * way)
            made.distance(name, initial_m=joint["q0"], initial_rate_m_s=joint["qd0"])
            made.prismatic(
                name, bodies=bodies["bodies"], point_m=at.tolist(), axis=way.tolist(), travel=name
            )
            made.spring(
                name, distance=name, stiffness_n_per_m=joint["stiffness"], rest_m=joint["rest"]
            )
            made.damper(name, distance=name, damping_ns_per_m=joint["damping"])
            made.output(f"{name}/q_m", name)
        case "spherical":
            turn = turn * _quaternion(joint["q0"])
            omega = omega + turn.apply(joint["qd0"])
            made.spherical(name, **bodies)
            made.bushing(
                name, **bodies, turn="vector",
                stiffness=[0.0] * 3 + [joint["stiffness"]] * 3, damping=[0.0] * 3 + [joint["damping"]] * 3,
                initial_turn_rad=turn.apply(_quaternion(joint["q0"]).as_rotvec()).tolist(),
            )  # fmt: skip
        case "universal":
            between = f"{name}_cross"
            for k, link in enumerate((between, name)):
                one = {key: joint[key][k] for key in ("q0", "qd0", "stiffness", "damping")}
                one |= {"axis": joint[f"axis{k + 1}"], "rest": 0.0}
                on = {"bodies": [link, (parent, between)[k]], "point_m": at.tolist()}
                turn, omega = _pin(made, f"{name}_{k + 1}", one, on, turn, omega)
                if link == between:
                    _moving(made, between, at, turn, velocity, omega)
                    made.rigid_body(
                        between, points=[f"{between}_at"], vectors=_axes(between), mass_kg=0.0, centre_m=at.tolist()
                    )  # fmt: skip
    _moving(made, name, at, turn, velocity, omega)
    return at, turn, velocity, omega


def _pin(made, name, joint, bodies, turn, omega):
    way = turn.apply(joint["axis"])
    made.angle(name, initial_rad=joint["q0"], initial_rate_rad_s=joint["qd0"])
    made.revolute(name, **bodies, axis=way.tolist(), angle=name)
    made.spring(name, angle=name, stiffness_nm_per_rad=joint["stiffness"], rest_rad=joint["rest"])
    made.damper(name, angle=name, damping_nms_per_rad=joint["damping"])
    made.output(f"{name}/q_rad", name)
    return turn * Rotation.from_rotvec(joint["q0"] * np.array(joint["axis"])), omega + joint[
        "qd0"
    ] * way


def _moving(made, name, at, turn, velocity, omega):
    made.point(f"{name}_at", position_m=at.tolist(), velocity_m_s=velocity.tolist())
    for axis, way in zip(_axes(name), turn.as_matrix().T, strict=True):
        made.unit_vector(axis, direction=way.tolist(), angular_velocity_rad_s=omega.tolist())


def _quaternion(wxyz):
    return Rotation.from_quat([*wxyz[1:], wxyz[0]])
