"""What a formulation hands to a target: routines over named arrays, and constants."""

from __future__ import annotations

from dataclasses import dataclass, field

from codegen.dag import Expr
from codegen.elimination import Factor
from codegen.emit import Assign
from codegen.mechanism import Mechanism
from codegen.options import KernelOptions


@dataclass
class Routine:
    """Straight-line code `name(w, s)`: reads and writes arrays of the work space `w` and of the
    state `s`.
    """

    name: str
    title: str
    assigns: list[Assign]


@dataclass
class Program:
    """A mechanism discretised: enough to print the step in any language.

    Attributes
    ----------
    bind : dict of Expr to str
        Where each variable lives, as `array[index]`.
    known : dict of Expr to str
        Where sines and cosines (`trig`) and parts that depend on parameters alone (`derived`) are
        stored.
    arrays : dict of str to int
        Sizes of the work arrays.
    scale : list of float
        Factor w_i by which row i is scaled inside: phi' = w phi, lam = unit * w * lam'.
    unit : float
        Force unit a0: penalties are alpha_i = a0 w_i^2.
    calls : list of (str, int)
        Routines of one step and how often each runs, for operation counts.
    """

    mechanism: Mechanism
    options: KernelOptions
    routines: list[Routine]
    bind: dict[Expr, str]
    known: dict[Expr, str]
    arrays: dict[str, int]
    scale: list[float]
    unit: float
    projection_scale: float
    factor: Factor
    phi_q: dict[tuple[int, int], Expr]
    calls: list[tuple[str, int]] = field(default_factory=list)
