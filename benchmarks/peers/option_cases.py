"""Mechanisms on which formulations, integrators and steps are measured: free, driven, stiff, closed loops, trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import Mechanism, load, parse
from codegen.description.n_four_bar import n_four_bar
from codegen.kernels.trial import Motion, Swing

REFERENCES = Path(__file__).parents[2] / "tests" / "data" / "references"
DOWN = (0, -9.81, 0)


@dataclass(frozen=True)
class Case:
    """A mechanism, what drives it, and the error wanted.

    `exact` names a file of tests/data/references and gives the column of each signal.
    """

    title: str
    kind: str
    made: Callable[[], Mechanism]
    error: float
    row_s: float = 0.01
    rows: int = 100
    swings: dict[str, Swing] = field(default_factory=dict)
    exact: str = ""
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def motion(self) -> Motion:
        """The inputs that drive a trial."""
        return Motion(self.swings, self.row_s, self.rows)


def branch() -> Mechanism:
    """Three rods, two of which hang on the end of the first."""
    made = MechanismBuilder("branch", gravity_m_s2=DOWN)
    places = {"P": (0.6, -0.8, 0.0), "Q": (1.6, -0.8, 0.0), "R": (0.6, -0.2, 0.0)}
    for name, place in places.items():
        made.point(name, position_m=place, moves="xy")
    for name, ends in (("first", [(0, 0, 0), "P"]), ("second", ["P", "Q"]), ("third", ["P", "R"])):
        made.constant_distance(name, points=ends)
        made.uniform_rod(name, points=ends, mass_kg=1.0)
    return made.output("Q/x_m", "Q_x").output("R/y_m", "R_y").build()


def stiff_carts() -> Mechanism:
    """Two carts on a spring of 1 MN/m, the first one on a soft spring: 10 krad/s beside 4 rad/s."""
    made = MechanismBuilder("stiff_carts")
    for k, name in enumerate(("A", "B")):
        made.point(name, position_m=(float(k), 0, 0), velocity_m_s=(1.0, 0, 0))
        made.distance(f"s{name}", initial_rate_m_s=1.0)
        made.slide(name, point=name, start_m=(float(k), 0, 0), along=(1, 0, 0), by=f"s{name}")
        made.mass(name, distance=f"s{name}", mass_kg=0.02)
    made.spring_between(
        "link", points=["A", "B"], stiffness_n_per_m=1e6, damping_ns_per_m=40.0, rest_m=1.0
    )
    made.spring("home", distance="sA", stiffness_n_per_m=0.6)
    return made.output("A/travel_m", "sA").output("B/travel_m", "sB").build()


def shipped(name: str) -> Callable[[], Mechanism]:
    """A mechanism that ships."""
    return lambda: load(name)


def referenced(name: str) -> Callable[[], Mechanism]:
    """A mechanism of tests/data/references."""
    return lambda: load(REFERENCES / f"{name}.toml")


STILL = Swing(0.0, 1.0)
CASES = (
    Case("pendulum", "free", referenced("pendulum"), 1e-5, rows=200,
         swings={"guide/length/position_m": STILL},
         exact="pendulum", columns={"rod/angle_rad": "theta", "rod/force_n": "-tension"}),
    Case("double four-bar", "free, closed loops, singular poses", shipped("double_four_bar"), 1e-4, rows=200),
    Case("ten four-bars", "free, closed loops, singular poses",
         lambda: parse(n_four_bar(10), "n_four_bar_10.toml"), 1e-3, rows=200,
         exact="four_bar_10", columns={"B0/x_m": "x_B0", "B0/y_m": "y_B0"}),
    Case("slider-crank", "free, closed loop", referenced("crank_free"), 1e-4,
         swings={"guide/height/position_m": STILL},
         exact="slider_crank_free", columns={"slider/position_m": "x_B", "slider/guide_n": "N_guide"}),
    Case("guided slider-crank", "all motion given", referenced("crank_guided"), 1e-4,
         swings={"guide/height/position_m": STILL, "guide/crank/position_rad": Swing(0.6, 2.0)}),
    Case("squeezer", "fast, seven bodies, stiff spring", shipped("squeezer"), 1e-3, row_s=5e-4, rows=60),
    Case("governor", "stiff spring, spins", shipped("governor"), 1e-4),
    Case("Bricard", "free, spatial loop, redundant row", shipped("bricard"), 1e-5, rows=200),
    Case("five-bar", "free, closed loop, two freedoms", shipped("five_bar"), 1e-4),
    Case("steering rack", "driven by a torque", shipped("steering_rack"), 1e-3,
         swings={"input/force/driver/torque_nm": Swing(6.0, 0.5)}),
    Case("steering_26", "guided, tyres with a state", shipped("steering_26"), 1e-2,
         swings={"guide/wheel/position_rad": Swing(0.5, 1.0)}),
    Case("branch", "free, tree", branch, 1e-4),
    Case("stiff carts", "stiff: 10 krad/s beside 4", stiff_carts, 1e-4),
)  # fmt: skip
