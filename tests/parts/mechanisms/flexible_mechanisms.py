"""The flexible mechanisms whose exact solutions are in `tests/data/references`."""

from codegen.description.builder import MechanismBuilder

SPUN = {
    "line_m": [(0, 0, 0), (10, 0, 0)],
    "density_kg_m3": 3000.0,
    "youngs_pa": 7e10,
    "area_m2": 4e-4,
    "second_moment_m4": 2e-7,
    "nodes": {"root": 0.0, "tip": 1.0},
}
ROD = {
    "line_m": [(0.15, 0, 0), (0.45, 0, 0)],
    "density_kg_m3": 7870.0,
    "youngs_pa": 2e11,
    "area_m2": 6.4e-5,
    "second_moment_m4": 3.413333333333334e-10,
    "nodes": {"a": 0.0, "mid": 0.5, "b": 1.0},
}


def spin_up(*, is_driven=False, stiffening=True, modes=5):
    """A beam of 10 m on a hub in a plane: guided, or driven by a torque on a hub of 50 kg m2."""
    made = MechanismBuilder("spin_up").angle("turn").point("P", position_m=(1, 0, 0), moves="xy")
    made.rotation(
        "turn", angle="turn", axis=(0, 0, 1), zero=(1, 0, 0), point="P", centre_m=(0, 0, 0)
    )
    made.flexible_body(
        "beam",
        points=[(0, 0, 0), "P"],
        axis=(0, 0, 1),
        beam=SPUN,
        frame="root",
        modes=modes,
        stiffening=stiffening,
    )
    made.output("tip/w_m", "flexible_body.beam.tip_bent2_m").output("beam/energy_j", "energy")
    made.output("hub/angle_rad", "turn").output("hub/rate_rad_s", "turn.rate")
    if is_driven:
        made.inertia("hub", angle="turn", inertia_kg_m2=50.0)
        return made.force("hub", angle="turn", torque_nm={"input": 0.0})
    return made.guide("hub", coordinate="turn").output("hub/torque_nm", "guide.hub.reaction")


def flexible_crank():
    """A slider-crank whose rod bends between its pins; the crank is guided."""
    made = MechanismBuilder("flexible_crank")
    made.angle("theta", initial_rate_rad_s=150.0)
    made.point("A", position_m=(0.15, 0, 0), moves="xy").point(
        "B", position_m=(0.45, 0, 0), moves="x"
    )
    made.rigid_body(
        "crank",
        points=[(0, 0, 0), "A"],
        axis=(0, 0, 1),
        angle="theta",
        mass_kg=0.36,
        centre_m=(0, 0, 0),
        inertia_kg_m2=0.002727,
    )
    made.mass("slider", point="B", mass_kg=0.075552)
    made.flexible_body(
        "rod",
        points=["A", "B"],
        axis=(0, 0, 1),
        beam=ROD,
        frame=("a", "b"),
        modes=3,
        stiffening=False,
    )
    made.output("rod/w_mid_m", "flexible_body.rod.mid_bent2_m").guide("drive", coordinate="theta")
    return made.output("crank/torque_nm", "guide.drive.reaction")


CROOKED = [(0, 0, 0), (0.4, 0.1, 0), (0.7, 0.1, 0.2)]


def free_shaft(*, modes=6, line=CROOKED, gravity=(0.0, 0.0, -9.81)):
    """A steel shaft with a lump at its end, free in space."""
    made = MechanismBuilder("free_shaft", gravity_m_s2=gravity)
    made.point("O", position_m=(0, 0, 0), velocity_m_s=(0.3, 0.2, -0.1))
    for name, direction in (("ex", (1, 0, 0)), ("ey", (0, 1, 0)), ("ez", (0, 0, 1))):
        made.unit_vector(name, direction=direction)
    made.flexible_body(
        "shaft",
        points=["O"],
        vectors=["ex", "ey", "ez"],
        beam={
            "line_m": line,
            "density_kg_m3": 7850.0,
            "youngs_pa": 2.1e11,
            "shear_pa": 8e10,
            "diameter_m": 0.012,
            "elements": 8,
            "nodes": {"root": 0.0, "knee": 0.5, "tip": 1.0},
            "masses": {"tip": {"mass_kg": 0.8, "inertia_kg_m2": (1e-3, 8e-4, 9e-4)}},
            "gauges": {"bow": {"at": 0.1, "offset_m": (0, 0, 0.006)}},
        },
        frame="root",
        modes=modes,
    )
    return made.output("shaft/energy_j", "energy")
