"""Four rods on pins, as the published branch example and its exact motion `branch_pendulum.csv` have them."""

from codegen.description.builder import MechanismBuilder

PINS = {"ground7": ("rod7", "ground", (0, 0, 0)), "17": ("rod1", "rod7", (-0.5, 0, 0)),
        "57": ("rod5", "rod7", (0.5, 0, 0)), "35": ("rod3", "rod5", (0.5, -1, 0))}  # fmt: skip
RODS = {"rod7": ((-0.5, 0, 0), (0.5, 0, 0)), "rod1": ((-0.5, -1, 0), (-0.5, 0, 0)),
        "rod5": ((0.5, -1, 0), (0.5, 0, 0)), "rod3": ((0.5, -2, 0), (0.5, -1, 0))}  # fmt: skip


def branches():
    """The rods hanging from the ends of rod 7, which is pinned at its centre; joints show angles and forces."""
    made = MechanismBuilder("branches", gravity_m_s2=(0, -9.81, 0))
    for name, (begin, end) in RODS.items():
        made.point(f"{name}_a", position_m=begin, moves="xy")
        made.point(f"{name}_b", position_m=end, moves="xy")
        centre = tuple((a + b) / 2 for a, b in zip(begin, end, strict=True))
        made.rigid_body(
            name, points=[f"{name}_a", f"{name}_b"], axis=(0, 0, 1), mass_kg=1.0, centre_m=centre,
            inertia_kg_m2=1 / 12,
        )  # fmt: skip
    for pin, (first, second, at) in PINS.items():
        made.angle(f"a{pin}")
        made.revolute(
            f"p{pin}", bodies=[first, second], point_m=at, axis=(0, 0, 1), angle=f"a{pin}"
        )
        made.output(f"a{pin}/angle_rad", f"a{pin}")
        for axis in "xy":
            made.output(f"p{pin}/f{axis}_n", f"revolute.p{pin}.f{axis}_n")
    made.output("total_j", "energy")
    return made
