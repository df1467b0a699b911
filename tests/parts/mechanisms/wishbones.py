"""A double-wishbone axle with steering: two loops a side, springs, bump stops, and tyres as springs to the road."""

from codegen.description.builder import MechanismBuilder


def wishbone_axle():
    """The axle; its rack is pushed by the input `input/force/driver/force_n`."""
    made = MechanismBuilder("wishbone_axle", gravity_m_s2=(0, 0, -9.81))
    made.distance("rack").mass("rack", distance="rack", mass_kg=2.5)
    made.force("driver", distance="rack", force_n={"input": 30.0})
    made.damper("rack", distance="rack", damping_ns_per_m=250.0)
    for name, side in (("left", 1.0), ("right", -1.0)):
        _side(made, name, side)
        made.output(f"{name}/lower_rad", f"{name}_lower")
        made.output(f"{name}/tie_rod_n", f"constant_distance.{name}_tie_rod.force_n")
    return made.output("rack_m", "rack").output("total_j", "energy")


def _side(made, name, side):
    for letter, place in (
        ("L", (0.0, 0.7, 0.12)), ("U", (-0.03, 0.66, 0.42)), ("T", (-0.12, 0.68, 0.17)), ("W", (0.0, 0.75, 0.27)),
    ):  # fmt: skip
        made.point(f"{name}{letter}", position_m=_on(side, place))
    for arm, ball, foot, mass in (
        ("lower", "L", (0.0, 0.3, 0.15), 3.0),
        ("upper", "U", (-0.03, 0.4, 0.45), 2.0),
    ):
        centre = (foot[0], 0.5, foot[2])
        made.angle(f"{name}_{arm}")
        made.rigid_body(
            f"{name}_{arm}", points=[_on(side, foot), f"{name}{ball}"], axis=(1, 0, 0), angle=f"{name}_{arm}",
            mass_kg=mass, centre_m=_on(side, centre), inertia_kg_m2=0.04,
        )  # fmt: skip
    made.rigid_body(
        f"{name}_knuckle", points=[f"{name}{k}" for k in "LUTW"], mass_kg=14.0, centre_m=_on(side, (0.0, 0.73, 0.27)),
        inertia_kg_m2=(0.4, 0.6, 0.4),
    )  # fmt: skip
    made.point(f"{name}R", position_m=_on(side, (-0.12, 0.33, 0.17)))
    made.slide(
        f"{name}_end", point=f"{name}R", start_m=_on(side, (-0.12, 0.33, 0.17)), along=(0, 1, 0), by="rack"
    )  # fmt: skip
    made.constant_distance(f"{name}_tie_rod", points=[f"{name}R", f"{name}T"])
    made.spring_between(
        f"{name}_strut", points=[f"{name}L", _on(side, (0.0, 0.45, 0.6))], stiffness_n_per_m=3e4,
        damping_ns_per_m=2e3, rest_m=0.56,
    )  # fmt: skip
    made.spring_between(
        f"{name}_tyre", points=[f"{name}W", _on(side, (0.0, 0.75, -0.03))], stiffness_n_per_m=1.8e5, rest_m=0.31
    )  # fmt: skip
    made.bump_stop(
        f"{name}_bump", angle=f"{name}_lower", lower_rad=-0.2, upper_rad=0.2, stiffness_nm_per_rad=5e3,
        damping_nms_per_rad=20.0,
    )  # fmt: skip


def _on(side, place):
    x, y, z = place
    return (x, side * y, z)
