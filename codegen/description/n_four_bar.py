"""The N four-bar benchmark mechanism as a file, for any N: N + 1 vertical links, N couplers, one
degree of freedom.
"""

from __future__ import annotations

DRAWING = """\
#    B0 ------- B1 ------- B2 -- ...      every link 1 m, 1 kg, uniform; gravity -y
#    |          |          |              start: upright, B0 moves at 1 m/s in x
#    |          |          |
#   (0,0)      (1,0)      (2,0)
"""


def n_four_bar(n: int) -> str:
    """TOML text of the mechanism `n_four_bar_<n>`.

    All links lie on the ground line whenever the angle is a multiple of pi: the Jacobian loses rank
    there, and the motion that keeps the velocity continuous is wanted.

    Source: IFToMM multibody benchmark library, N four-bar mechanism.
    """
    lines = [
        f"# {n} four-bar mechanisms in a row: {2 * n + 2} coordinates, {2 * n + 1} constraints.",
        "#",
        DRAWING,
        f'name = "n_four_bar_{n}"',
        "gravity_m_s2 = [0, -9.81, 0]",
        "",
    ]
    for k in range(n + 1):
        lines += [
            f"[point.B{k}]",
            f"position_m = [{k}, 1, 0]",
            "velocity_m_s = [1, 0, 0]",
            'moves = "xy"',
        ]
    bars = [(f"link_{k}", f"[[{k}, 0, 0], 'B{k}']") for k in range(n + 1)]
    bars += [(f"coupler_{k}", f"['B{k}', 'B{k + 1}']") for k in range(n)]
    for name, points in bars:
        lines += [f"[constant_distance.{name}]", f"points = {points}", "length_m = 1"]
    for name, points in bars:
        lines += [f"[uniform_rod.{name}]", f"points = {points}", "mass_kg = 1"]
    lines += ["", "[outputs]", '"B0/x_m" = "B0_x"', '"B0/y_m" = "B0_y"', ""]
    return "\n".join(lines)
