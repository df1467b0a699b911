"""Loops, couplings, actuators and tendons of a compiled model, and those of them that cannot be carried over."""

from __future__ import annotations

import numpy as np

from codegen.importers.compiled import Compiled, triple, word
from codegen.importers.tree import Cord, Coupling, Drive, Loop, Names, Strut

FORCE = {"hinge": "Nm", "slide": "N"}
# effects that not every version of MuJoCo has, by the ends of their names in its model
OF_TENDONS = {
    "actfrclimited": "force range",
    "armature": "armature",
    "stiffnesspoly": "stiffness polynomial: the linear part is carried",
    "dampingpoly": "damping polynomial: the linear part is carried",
    "springyield": "plastic spring",
}
OF_ACTUATORS = ("damping", "dampingpoly", "armature", "delay")


def carried_equalities(mj, model) -> set[int]:
    """Equality constraints that a mechanism can have, by number."""
    return {e for e in range(model.neq) if _why_not(mj, model, e) is None}


def _why_not(mj, m, e: int) -> str | None:
    kind = word(mj.mjtEq, m.eq_type[e])
    if not m.eq_active0[e]:
        return "is not active"
    if kind in ("connect", "weld"):
        return None
    if kind == "joint":
        if np.any(m.eq_data[e][2:5]) and m.eq_obj2id[e] >= 0:
            return "is not linear"
        joints = [j for j in (m.eq_obj1id[e], m.eq_obj2id[e]) if j >= 0]
        return None if all(m.jnt_type[j] >= 2 for j in joints) else "is not on hinges and slides"
    if kind == "tendon":
        if m.eq_obj2id[e] >= 0:
            return "couples two tendons"
        if _ends(mj, m, int(m.eq_obj1id[e])) is None:
            return "is on a tendon that is no straight line between two sites"
        return None
    return "has no counterpart"


def read_closures(found: Compiled) -> None:
    """Add loops, couplings and struts that equality constraints ask for."""
    mj, m, d, tree = found.mj, found.model, found.data, found.tree
    names = Names()
    for e in range(m.neq):
        wanted = found.name("equality", e)
        why = _why_not(mj, m, e)
        kind = word(mj.mjtEq, m.eq_type[e])
        if why is not None:
            tree.left_out("equality", wanted, f"{kind} {why}")
            continue
        name = names.new(wanted)
        one, two = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        if kind in ("connect", "weld"):
            if word(mj.mjtObj, m.eq_objtype[e]) == "site":
                at = d.site_xpos[one]
                bodies = (int(m.site_bodyid[one]), int(m.site_bodyid[two]))
            else:
                # anchor of a connect in the frame of the first body, of a weld in the second's
                owner, part = (one, slice(0, 3)) if kind == "connect" else (two, slice(0, 3))
                turn = d.xmat[owner].reshape(3, 3)
                at = d.xpos[owner] + turn @ m.eq_data[e][part]
                bodies = (one, two)
            links = (found.link(bodies[0]), found.link(bodies[1]))
            if links[0] == links[1]:
                tree.left_out("equality", wanted, f"{kind} within one rigid body")
                continue
            tree.loops.append(Loop(name, kind, links, triple(at)))  # type: ignore[arg-type]
            tree.carried("equality", wanted, f"{kind} of {links[0]} and {links[1]}, rigid")
        elif kind == "joint":
            ratio = float(m.eq_data[e][1]) if two >= 0 else 0.0
            second = found.joint_name[two] if two >= 0 and ratio else None
            tree.couplings.append(Coupling(name, found.joint_name[one], second, ratio))
            words = f"{ratio:.6g} x {second}" if second else "stands still"
            tree.carried("equality", wanted, f"{found.joint_name[one]}: {words}")
        else:
            length = float(m.tendon_length0[one] + m.eq_data[e][0])
            ends = _ends(mj, m, one)
            assert ends is not None
            tree.struts.append(Strut(name, _places(found, ends), length, is_rigid=True))
            tree.carried("equality", wanted, f"rod of {length:.6g} m between two sites")


def _ends(mj, m, tendon: int) -> tuple[int, int] | None:
    """The two sites of a tendon that is a straight line, None for any other."""
    first, number = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    wraps = range(first, first + number)
    if number != 2 or any(word(mj.mjtWrap, m.wrap_type[w]) != "site" for w in wraps):
        return None
    return int(m.wrap_objid[first]), int(m.wrap_objid[first + 1])


def _factors(found: Compiled, tendon: int) -> list[tuple[int, float]]:
    """Hinges and slides of a fixed tendon with their factors; empty for any other."""
    mj, m = found.mj, found.model
    first, number = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    wraps = range(first, first + number)
    if any(word(mj.mjtWrap, m.wrap_type[w]) != "joint" for w in wraps):
        return []
    pairs = [(int(m.wrap_objid[w]), float(m.wrap_prm[w])) for w in wraps]
    return [(joint, factor) for joint, factor in pairs if factor]


def _places(found: Compiled, ends: tuple[int, int]):
    m, d = found.model, found.data
    one, two = ((found.link(int(m.site_bodyid[s])), triple(d.site_xpos[s])) for s in ends)
    return one, two


def read_tendons(found: Compiled) -> None:
    """Straight tendons with stiffness or damping are springs, fixed ones lengths that actuators may act on."""
    mj, m, tree = found.mj, found.model, found.tree
    names = Names()
    rods = {
        int(m.eq_obj1id[e])
        for e in carried_equalities(mj, m)
        if word(mj.mjtEq, m.eq_type[e]) == "tendon"
    }
    for t in range(m.ntendon):
        name = found.name("tendon", t)
        stiffness = float(np.ravel(m.tendon_stiffness[t])[0])
        damping = float(np.ravel(m.tendon_damping[t])[0])
        ends = _ends(mj, m, t)
        if m.tendon_limited[t]:
            tree.left_out("tendon", name, "length limits")
        if m.tendon_frictionloss[t]:
            tree.left_out("tendon", name, f"frictionloss {m.tendon_frictionloss[t]:.6g}")
        for field, words in OF_TENDONS.items():
            if np.any(getattr(m, f"tendon_{field}", np.zeros(t + 1))[t]):
                tree.left_out("tendon", name, words)
        factors = _factors(found, t)
        pulled = _pulled(found, t)
        if factors and (stiffness or damping or pulled):
            low, high = (float(v) for v in m.tendon_lengthspring[t])
            if low != high and stiffness:
                tree.left_out("tendon", name, f"spring with a dead band {low:.6g} .. {high:.6g} m")
                stiffness = 0.0
            pairs = tuple((found.joint_name[j], factor) for j, factor in factors)
            length = sum(f * float(found.data.qpos[m.jnt_qposadr[j]]) for j, f in factors)
            cord = Cord(found.cord_name[t], pairs, length, low, stiffness, damping)
            tree.cords.append(cord)
            told = " + ".join(f"{factor:.6g} {joint}" for joint, factor in pairs)
            words = f"length {told}, spring {stiffness:.6g} N/m, {damping:.6g} Ns/m"
            tree.carried("tendon", name, words)
        elif stiffness or damping:
            low, high = (float(v) for v in m.tendon_lengthspring[t])
            if ends is None:
                words = "stiffness and damping: it is no straight line between two sites"
                tree.left_out("tendon", name, words)
            elif low != high:
                tree.left_out("tendon", name, f"spring with a dead band {low:.6g} .. {high:.6g} m")
            else:
                places = _places(found, ends)
                strut = Strut(names.new(name), places, low, False, stiffness, damping)
                tree.struts.append(strut)
                words = f"spring {stiffness:.6g} N/m, {damping:.6g} Ns/m between two sites"
                tree.carried("tendon", name, words)
        elif t not in rods:
            tree.left_out("tendon", name, "without force of its own here")


def _pulled(found: Compiled, tendon: int) -> bool:
    """Return whether an actuator acts on a tendon."""
    mj, m = found.mj, found.model
    return any(
        word(mj.mjtTrn, m.actuator_trntype[a]) == "tendon"
        and int(np.ravel(m.actuator_trnid[a])[0]) == tendon
        for a in range(len(m.actuator_trntype))
    )


def read_actuators(found: Compiled) -> None:
    """Actuators on a joint or fixed tendon whose force is affine in control, position and rate."""
    mj, m, tree = found.mj, found.model, found.tree
    names = Names()
    for a in range(m.nu if not hasattr(m, "nactuator") else m.nactuator):
        wanted = found.name("actuator", a)
        gain = word(mj.mjtGain, m.actuator_gaintype[a])
        bias = word(mj.mjtBias, m.actuator_biastype[a])
        transmission = word(mj.mjtTrn, m.actuator_trntype[a])
        why = None
        joint = int(np.ravel(m.actuator_trnid[a])[0])
        on_cord = transmission == "tendon" and bool(_factors(found, joint))
        on_joint = transmission in ("joint", "jointinparent") and m.jnt_type[joint] >= 2
        if not (on_cord or on_joint):
            why = "does not act on a hinge, slide or fixed tendon"
        elif word(mj.mjtDyn, m.actuator_dyntype[a]) != "none":
            why = "has dynamics of its own"
        elif gain != "fixed" or bias not in ("none", "affine"):
            why = "has a force that is not affine in control, position and rate"
        if why is not None:
            tree.left_out("actuator", wanted, why)
            continue
        gear = float(m.actuator_gear[a][0])
        factor = gear * float(m.actuator_gainprm[a][0])
        b0, b1, b2 = (float(b) for b in m.actuator_biasprm[a][:3])
        if bias == "none":
            b0 = b1 = b2 = 0.0
        name = found.cord_name[joint] if on_cord else found.joint_name[joint]
        made = Drive(names.new(wanted), name, gear * b0, -(gear**2) * b1, -(gear**2) * b2)
        tree.drives.append(made)
        is_turn = on_joint and m.jnt_type[joint] == 3
        unit = FORCE["hinge" if is_turn else "slide"]
        words = f"on {name}: the input is {factor:.6g} x control, {unit}"
        (tree.carried if factor == 1.0 else tree.changed)("actuator", wanted, words)
        if b0 or b1 or b2:
            words = f"bias {b0:.6g} + {b1:.6g} position + {b2:.6g} rate, as spring and damper"
            tree.carried("actuator", wanted, words)
        for limited, what in (
            (m.actuator_ctrllimited[a], "control range"),
            (m.actuator_forcelimited[a], "force range"),
        ):
            if np.any(limited):
                tree.left_out("actuator", wanted, what)
        for field in OF_ACTUATORS:
            if np.any(getattr(m, f"actuator_{field}", np.zeros(a + 1))[a]):
                tree.left_out("actuator", wanted, field)


def read_sites(found: Compiled) -> None:
    """Sites on links become named points; those on the ground are numbers to nobody."""
    m, d, tree = found.model, found.data, found.tree
    names = Names()
    for s in range(m.nsite):
        link = found.link(int(m.site_bodyid[s]))
        wanted = found.name("site", s)
        if link == "ground":
            tree.left_out("site", wanted, "is fixed on the ground")
            continue
        tree.sites.append((names.new(wanted), link, triple(d.site_xpos[s])))
        tree.carried("site", wanted, f"a point of {link}")


def leave_out_the_rest(found: Compiled) -> None:
    """Name the effects that MuJoCo simulates and a mechanism does not."""
    m, tree = found.model, found.tree
    for j in range(m.njnt):
        name = found.joint_name[j]
        if m.jnt_limited[j]:
            low, high = m.jnt_range[j]
            tree.left_out("limit", name, f"range {low:.6g} .. {high:.6g}")
        if m.jnt_actfrclimited[j]:
            low, high = m.jnt_actfrcrange[j]
            tree.left_out("limit", name, f"actuator force {low:.6g} .. {high:.6g}")
    for g in range(m.ngeom):
        body = found.name("body", int(m.geom_bodyid[g])) if m.geom_bodyid[g] else "ground"
        touches = m.geom_contype[g] or m.geom_conaffinity[g]
        words = f"shape and contacts on {body}" if touches else f"shape on {body}"
        tree.left_out("geom", found.name("geom", g), words)
    for b in range(1, m.nbody):
        if m.body_mocapid[b] >= 0:
            tree.left_out("mocap", found.name("body", b), "is fixed where it stands")
        if m.body_gravcomp[b]:
            tree.left_out("gravcomp", found.name("body", b), f"{m.body_gravcomp[b]:.6g}")
    for kind in ("sensor", "key", "pair", "exclude", "flex", "plugin", "skin"):
        for number in range(int(getattr(m, f"n{kind}"))):
            tree.left_out(kind, found.name(kind, number), "has no counterpart")
    if np.any(m.opt.wind) or m.opt.density or m.opt.viscosity:
        tree.left_out("option", "wind, density, viscosity", "no forces of a fluid")
