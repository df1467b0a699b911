"""Chains and trees whose bodies bend."""

from codegen.description.builder import MechanismBuilder

ROD = {
    "density_kg_m3": 7850.0,
    "youngs_pa": 2.1e11,
    "shear_pa": 8e10,
    "diameter_m": 0.02,
    "elements": 6,
    "nodes": {"root": 0.0, "mid": 0.5, "tip": 1.0},
}
PLANE = {
    "density_kg_m3": 7850.0,
    "youngs_pa": 2.1e11,
    "area_m2": 4e-4,
    "second_moment_m4": 1.3e-8,
    "elements": 6,
    "nodes": {"root": 0.0, "tip": 1.0},
}


def plane_chain(count, *, modes=2, length_m=0.5, stiffening=True):
    """Beams on pins about z, each at the tip of the one before."""
    made = MechanismBuilder(f"plane_{count}_{modes}", gravity_m_s2=(0.0, -9.81, 0.0))
    before = "ground"
    for n in range(count):
        at, end = n * length_m, (n + 1) * length_m
        made.point(f"P{n}", position_m=(at, 0, 0), moves="xy").unit_vector(
            f"e{n}", direction=(1, 0, 0)
        )
        made.flexible_body(
            f"b{n}",
            points=[f"P{n}"],
            vectors=[f"e{n}"],
            axis=(0, 0, 1),
            frame="root",
            modes=modes,
            stiffening=stiffening,
            beam=PLANE | {"line_m": [(at, 0, 0), (end, 0, 0)]},
        )
        made.angle(f"q{n}", initial_rad=0.0)
        made.revolute(
            f"j{n}", bodies=[f"b{n}", before], point_m=(at, 0, 0), axis=(0, 0, 1), angle=f"q{n}"
        )
        before = f"b{n}_tip"
    return made.output("chain/energy_j", "energy")


def space_chain(count, *, modes=4, length_m=0.5, kind="revolute", **keys):
    """Rods in space on pins about y and z in turn, or on balls, each at the tip of the one before."""
    made = MechanismBuilder(f"space_{count}_{modes}_{kind}", gravity_m_s2=(0.0, 0.0, -9.81))
    before = "ground"
    for n in range(count):
        at, end = n * length_m, (n + 1) * length_m
        made.point(f"P{n}", position_m=(at, 0, 0))
        for letter, way in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
            made.unit_vector(f"e{letter}{n}", direction=way)
        made.flexible_body(
            f"b{n}",
            points=[f"P{n}"],
            vectors=[f"ex{n}", f"ey{n}", f"ez{n}"],
            frame="root",
            modes=modes,
            beam=ROD | {"line_m": [(at, 0, 0), (end, 0, 0)]},
            **keys,
        )
        if kind == "revolute":
            axis = (0, 1, 0) if n % 2 == 0 else (0, 0, 1)
            made.revolute(f"j{n}", bodies=[f"b{n}", before], point_m=(at, 0, 0), axis=axis)
        elif kind == "spherical":
            made.spherical(f"j{n}", bodies=[f"b{n}", before], point_m=(at, 0, 0))
        else:
            made.rigid(f"j{n}", bodies=[f"b{n}", before], point_m=(at, 0, 0))
        before = f"b{n}_tip"
    return made.output("chain/energy_j", "energy")


def laden_tree():
    """A body that bends in space, free, with a ball on its middle, a mass on its root and a rigid body on its tip."""
    made = MechanismBuilder("laden", gravity_m_s2=(0.0, 0.0, -9.81))
    made.point("O", position_m=(0, 0, 0.05))
    for name, direction in (("ex", (1, 0, 0)), ("ey", (0, 1, 0)), ("ez", (0, 0, 1))):
        made.unit_vector(name, direction=direction)
    made.flexible_body(
        "beam",
        points=["O"],
        vectors=["ex", "ey", "ez"],
        frame="mean",
        modes=3,
        beam=ROD | {"line_m": [(0, 0, 0), (0.6, 0.1, 0), (1.0, 0.1, 0.2)]},
    )
    made.mass("lump", point="beam_root", mass_kg=0.3)
    made.point("A", position_m=(1.2, 0.1, 0.2)).point("B", position_m=(1.0, 0.3, 0.2))
    made.unit_vector("ea", direction=(0, 0, 1))
    made.rigid_body(
        "flap",
        points=["beam_tip", "A", "B"],
        vectors=["ea"],
        mass_kg=0.5,
        centre_m=(1.1, 0.15, 0.2),
        inertia_kg_m2=(1e-3, 2e-3, 2.5e-3),
    )
    made.wrench("push", body="beam_mid", point_m=made_mid(), force_n=(1.0, 2.0, 3.0))
    return made.output("beam/energy_j", "energy")


def made_mid():
    """Half of the way along that line."""
    first, second = 0.37**0.5, 0.2**0.5
    share = (first + second) / 2.0 / first
    return (0.6 * share, 0.1 * share, 0.0) if share <= 1.0 else (0.6, 0.1, 0.0)
