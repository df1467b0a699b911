"""Rigid bodies with joints by Newton and Euler alone: six accelerations a body, a multiplier a row, one dense system.

Nothing here knows of natural or joint coordinates: a body is a rotation and the place of its centre.
"""

import numpy as np

from codegen.description.builder import MechanismBuilder

AXES = np.eye(3)
LOCKED = ((0, 1), (1, 2), (2, 0))


class Plan:
    """Bodies and joints of one pose, as a mechanism file and as equations of plain bodies.

    Every body has a point and three directions of its own; joints are elements between them.
    """

    def __init__(self, name, gravity=(0.0, 0.0, -9.81)):
        self.gravity = np.array(gravity)
        self.made = MechanismBuilder(name, gravity_m_s2=tuple(gravity))
        self.bodies, self.rows, self.loads, self.measured = {}, [], [], {}

    def body(self, name, at, mass=1.0, centre=None, inertia=(0.1, 0.12, 0.15), turned=None):
        """A body with its centre beside its point and products of inertia where `turned` is a seed."""
        at = np.array(at, dtype=float)
        centre = (
            at + np.array((0.1, -0.05, 0.2)) if centre is None else np.array(centre, dtype=float)
        )
        axes = AXES
        if turned is not None:
            axes = np.linalg.qr(np.random.default_rng(turned).normal(size=(3, 3)))[0]
        whole = axes.T @ np.diag(inertia) @ axes
        self.made.point(f"{name}_p", position_m=tuple(at.tolist()))
        for letter, way in zip("uvw", AXES, strict=True):
            self.made.unit_vector(f"{name}_{letter}", direction=tuple(way.tolist()))
        self.made.rigid_body(
            name, points=[f"{name}_p"], vectors=[f"{name}_{k}" for k in "uvw"], mass_kg=mass,
            centre_m=tuple(centre.tolist()), inertia_kg_m2=tuple(float(v) for v in inertia),
            axes=(tuple(axes[0].tolist()), tuple(axes[1].tolist())),
        )  # fmt: skip
        self.bodies[name] = (at, centre, mass, whole)
        return self

    def joint(self, kind, first, second, at, axis=(0.0, 0.0, 1.0), **keys):
        """One of the joint elements, and its rows; axes of length 1 are made of what is given."""
        n, at = f"j{len(self.made._entries)}", np.array(at, dtype=float)
        axis = np.array(axis, dtype=float)
        axis = axis / np.linalg.norm(axis)
        seed = AXES[int(np.argmin(np.abs(axis)))]
        e1 = np.cross(seed, axis)
        e1 = e1 / np.linalg.norm(e1)
        e2 = np.cross(axis, e1)
        given = {"bodies": [first, second], "point_m": tuple(at.tolist())}
        meet = [("meet", at, w) for w in AXES]
        parallel = [("across", e1, axis), ("across", e2, axis)]
        locked = [("across", AXES[i], AXES[j]) for i, j in LOCKED]
        slides = [("meet", at, e1), ("meet", at, e2)]
        if kind == "universal":
            given["pins"] = (tuple(axis.tolist()), tuple(e1.tolist()))
        elif kind not in ("spherical", "rigid"):
            given["axis"] = tuple(axis.tolist())
        rows = {
            "revolute": [*meet, *parallel],
            "prismatic": [*slides, *locked],
            "cylindrical": [*slides, *parallel],
            "universal": [*meet, ("across", axis, e1)],
            "spherical": meet,
            "planar": [("meet", at, axis), *parallel],
            "rigid": [*meet, *locked],
        }[kind]
        self.rows += [(first, second, *row) for row in rows]
        if keys:  # a spring and damper on the turn or travel of the first body beside the second
            key = "angle" if kind == "revolute" else "travel"
            unit = ("nm", "rad") if kind == "revolute" else ("n", "m")
            getattr(self.made, "angle" if kind == "revolute" else "distance")(n)
            given[key] = n
            self.made.spring(
                f"s{n}", **{key if kind == "revolute" else "distance": n},
                **{f"stiffness_{unit[0]}_per_{unit[1]}": keys["stiffness"]},
                **{f"damping_{unit[0]}s_per_{unit[1]}": keys["damping"]},
            )  # fmt: skip
            self.loads.append((kind, first, second, at, axis, e1, e2, n, keys))
        getattr(self.made, kind)(n, **given)
        return self

    def push(self, body, at, force, torque):
        """A constant force at a point, and a torque, in the axes of the ground."""
        self.made.wrench(
            f"w{len(self.loads)}", body=body, point_m=tuple(at), force_n=tuple(force), torque_nm=tuple(torque)
        )  # fmt: skip
        self.loads.append(("push", body, np.array(at), np.array(force), np.array(torque)))
        return self

    def accelerations(self, q, qd):
        """Second derivatives of the points and directions, by the names of their coordinates; and how far the rows are
        open. `q` and `qd` are values and rates by these names.
        """
        names = list(self.bodies)
        turn, spin, at, moves = {}, {}, {}, {}
        for name, (point, centre, *_) in self.bodies.items():
            columns = [vector(q, f"{name}_{k}") for k in "uvw"]
            rates = [vector(qd, f"{name}_{k}") for k in "uvw"]
            turn[name] = np.array(columns).T
            omega = 0.5 * sum(np.cross(e, r) for e, r in zip(columns, rates, strict=True))
            arm = turn[name] @ (centre - point)
            spin[name], at[name] = omega, vector(q, f"{name}_p") + arm
            moves[name] = vector(qd, f"{name}_p") + np.cross(omega, arm)
        state = {n: (turn[n], at[n]) for n in names}
        rate = {n: (skew(spin[n]) @ turn[n], moves[n]) for n in names}
        size = 6 * len(names)
        mass, force = np.zeros((size, size)), np.zeros(size)
        for k, name in enumerate(names):
            _, _, m, inertia = self.bodies[name]
            now = turn[name] @ inertia @ turn[name].T
            mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = now
            mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = m * AXES
            force[6 * k : 6 * k + 3] = -np.cross(spin[name], now @ spin[name])
            force[6 * k + 3 : 6 * k + 6] = m * self.gravity
        self._push(force, names, state, spin, moves)
        jac, rest = np.zeros((len(self.rows), size)), np.zeros(len(self.rows))
        opened = 0.0
        bent = {n: (skew(spin[n]) @ skew(spin[n]) @ turn[n], np.zeros(3)) for n in names}
        for r, row in enumerate(self.rows):
            value = self._row(row, state)
            opened = max(opened, abs(value))
            # rows are quadratic in rotations and places, so that these differences are exact
            along, back = (self._row(row, moved(state, rate, sign)) for sign in (1.0, -1.0))
            rest[r] = along - 2.0 * value + back + self._slope(row, state, bent)
            for k, name in enumerate(names):
                if name not in row[:2]:
                    continue
                for i in range(3):
                    turned = {name: (skew(AXES[i]) @ turn[name], np.zeros(3))}
                    jac[r, 6 * k + i] = self._slope(row, state, turned)
                    slid = {name: (np.zeros((3, 3)), AXES[i])}
                    jac[r, 6 * k + 3 + i] = self._slope(row, state, slid)
        block = np.block([[mass, jac.T], [jac, np.zeros((len(jac), len(jac)))]])
        scale = np.ones(len(block))
        heavy = np.diag(mass)
        scale[:size] = 1.0 / np.sqrt(np.where(heavy > 0.0, heavy, heavy.max()))
        right = np.concatenate([force, -rest])
        found = (
            scale * np.linalg.lstsq(scale[:, None] * block * scale, scale * right, rcond=1e-14)[0]
        )
        out = {}
        for k, name in enumerate(names):
            point, centre, *_ = self.bodies[name]
            alpha, a = found[6 * k : 6 * k + 3], found[6 * k + 3 : 6 * k + 6]
            for key, arm, begin in [
                (f"{name}_p", turn[name] @ (point - centre), a),
                *((f"{name}_{c}", turn[name][:, i], 0.0) for i, c in enumerate("uvw")),
            ]:
                swung = np.cross(spin[name], np.cross(spin[name], arm))
                value = begin + np.cross(alpha, arm) + swung
                out |= {f"{key}_{x}": float(v) for x, v in zip("xyz", value, strict=True)}
        return out, opened

    def _side(self, body, state, at, *, is_point):
        if body == "ground":
            return at
        rotation, place = state[body]
        centre = self.bodies[body][1]
        return place + rotation @ (at - centre) if is_point else rotation @ at

    def _row(self, row, state):
        first, second, kind, a, b = row
        if kind == "across":
            return float(
                self._side(first, state, a, is_point=False)
                @ self._side(second, state, b, is_point=False)
            )
        gap = self._side(first, state, a, is_point=True) - self._side(
            second, state, a, is_point=True
        )
        return float(gap @ self._side(second, state, b, is_point=False))

    def _slope(self, row, state, way):
        ahead, behind = (self._row(row, moved(state, way, sign)) for sign in (1.0, -1.0))
        return 0.5 * (ahead - behind)

    def _push(self, force, names, state, spin, moves):
        def add(body, at, push, moment):
            if body != "ground":
                k = 6 * names.index(body)
                force[k : k + 3] += moment + np.cross(at - state[body][1], push)
                force[k + 3 : k + 6] += push

        def velocity(body, at):
            return (
                moves[body] + np.cross(spin[body], at - state[body][1]) if body != "ground" else 0.0
            )

        for load in self.loads:
            if load[0] == "push":
                _, body, at, push, moment = load
                add(body, self._side(body, state, at, is_point=True), push, moment)
                continue
            kind, first, second, at, axis, e1, e2, _, keys = load
            way = self._side(second, state, axis, is_point=False)
            zero = np.zeros(3)
            if kind == "revolute":
                here = self._side(first, state, e1, is_point=False)
                x, y = (self._side(second, state, e, is_point=False) for e in (e1, e2))
                turn = np.arctan2(here @ y, here @ x)
                rate = (spin.get(first, zero) - spin.get(second, zero)) @ way
                push = -keys["stiffness"] * turn - keys["damping"] * rate
                add(first, zero, zero, push * way)
                add(second, zero, zero, -push * way)
            else:
                here = self._side(first, state, at, is_point=True)
                gap = here - self._side(second, state, at, is_point=True)
                rate = (velocity(first, here) - velocity(second, here)) @ way
                push = -keys["stiffness"] * (gap @ way) - keys["damping"] * rate
                add(first, here, push * way, zero)
                add(second, here, -push * way, zero)


def vector(values, name):
    return np.array([values[f"{name}_{x}"] for x in "xyz"])


def skew(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def moved(state, way, sign):
    found = dict(state)
    for name, (turned, slid) in way.items():
        rotation, place = state[name]
        found[name] = (rotation + sign * turned, place + sign * slid)
    return found
