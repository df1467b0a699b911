"""Rods on pins: the four of the published branch example with its exact motion `branch_pendulum.csv`, and long rows."""

from codegen.description.builder import MechanismBuilder

PINS = {"ground7": ("rod7", "ground", (0, 0, 0)), "17": ("rod1", "rod7", (-0.5, 0, 0)),
        "57": ("rod5", "rod7", (0.5, 0, 0)), "35": ("rod3", "rod5", (0.5, -1, 0))}  # fmt: skip
RODS = {"rod7": ((-0.5, 0, 0), (0.5, 0, 0)), "rod1": ((-0.5, -1, 0), (-0.5, 0, 0)),
        "rod5": ((0.5, -1, 0), (0.5, 0, 0)), "rod3": ((0.5, -2, 0), (0.5, -1, 0))}  # fmt: skip

# a row of COUNT rods in one plane, of which a file says the rule
ROW = """
gravity_m_s2 = [0, -9.81, 0]
[repeat.row]
count = COUNT
before = { p_0 = [0, 0, 0], rod_0 = "ground" }
[repeat.row.point."p_{k}"]
position_m = ["0.06 * k", "-0.08 * k", 0]
moves = "xy"
[repeat.row.rigid_body."rod_{k}"]
points = ["p_{k-1}", "p_{k}"]
axis = [0, 0, 1]
mass_kg = 0.1
centre_m = ["0.06 * (k - 0.5)", "-0.08 * (k - 0.5)", 0]
inertia_kg_m2 = 1e-4
[repeat.row.angle."turn_{k}"]
[repeat.row.revolute."pin_{k}"]
bodies = ["rod_{k}", "rod_{k-1}"]
point_m = ["0.06 * (k - 1)", "-0.08 * (k - 1)", 0]
axis = [0, 0, 1]
angle = "turn_{k}"
[repeat.row.damper."bearing_{k}"]
angle = "turn_{k}"
damping_nms_per_rad = 0.01
[outputs]
"tip/x_m" = "p_COUNT_x"
"tip/y_m" = "p_COUNT_y"
"pin/fx_n" = "revolute.pin_2.fx_n"
"last/turn_rad_s2" = "turn_COUNT.acceleration"
"""


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
