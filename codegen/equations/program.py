"""The program that a formulation hands to a target: routines over named arrays, and constants."""

from __future__ import annotations

from dataclasses import dataclass, field

from codegen.description.mechanism import Mechanism
from codegen.equations.presolve import Presolved
from codegen.expressions.dag import Expr
from codegen.expressions.elimination import Entries
from codegen.expressions.emit import Assign, Cost, Flow
from codegen.options.options import KernelOptions


@dataclass(frozen=True)
class LoopText:
    """C of a routine that is written as loops: the lines of its functions, its work and what waits for what."""

    functions: list[list[str]]
    cost: Cost
    flow: Flow


@dataclass
class Routine:
    """Straight-line code `name(w, s)`: reads and writes arrays of the work space `w` and of the
    state `s`. An `is_ordered` one may read what it has written; in an `is_split` one, assignments
    under the same label have nothing else in common. Routines of `before` are called first; a
    `loop` takes the place of assignments.
    """

    name: str
    title: str
    assigns: list[Assign]
    is_ordered: bool = False
    is_split: bool = False
    before: tuple[str, ...] = ()
    loop: LoopText | None = None


@dataclass(frozen=True)
class Sweep:
    """A loop over whole arrays, "q" of coordinates or "phi" of rows: `slots` operations an
    element.
    """

    size: str
    reads: list[str]
    writes: list[str]
    slots: int


@dataclass
class Program:
    """A mechanism discretised: enough to print the step in any language.

    Attributes
    ----------
    presolved : Presolved
        The system that is stepped, and how the mechanism's own coordinates follow from it.
    bind : dict of Expr to str
        Where each variable lives, as `array[index]`.
    known : dict of Expr to str
        Where sines and cosines (`trig`) and parts that depend on parameters alone (`derived`) are
        stored.
    observed : dict of Expr to str
        Where outputs that are expressions are stored.
    arrays : dict of str to int
        Sizes of the work arrays.
    scale, full_scale : list of float
        Factor w_i by which row i is scaled inside: phi' = w phi, lam = unit * w * lam'; of the rows
        that are stepped, and of all rows.
    unit : float
        Force unit a0: penalties are alpha_i = a0 w_i^2.
    phi_q : dict of (row, coordinate) to Expr
        Scaled Jacobian of the stepped rows: constants, and variables that are stored.
    weight_keys : list of (coordinate, coordinate)
        Entries of the tangent's weight, in the order in which they are stored.
    calls : list of str or Sweep
        One step in order; `"routine variant"` names the weights that a factorisation takes.
    text : str
        How a target in C calls the routines: `advance`, one step, and `begin`, accelerations and
        multipliers of a start.
    is_large : bool
        Whether long routines become loops, see `codegen.targets.loops`.
    state : dict of str to (size, meaning)
        Arrays of the state beyond q, qd, qdd, lam and the internal states of forces.
    twin, twin_fill : tuple of str, dict of str to str
        Templates of the NumPy twin beside `formulations/equations.py.in`, in order, and what they are
        filled with.
    pivot_limit, row_pivot_limit : list of float
        A pivot of a coordinate, or of a row that is an unknown of its own, below its limit is small,
        see `codegen.equations.singular`; none: singular poses are not counted.
    freedoms : int
        Of the mechanism with its guides held, away from singular poses; -1: not counted.
    redundant : int
        Rows that follow from others in every pose.
    reactions : dict of str to str
        Where what outputs show of the multipliers of rows is stored, by its path; beside the reactions
        of guides.
    natural : Mechanism, optional
        The mechanism in the coordinates of its file, where those that are stepped are others.
    tables : list of str
        Further tables in C, which loops go through.
    """

    mechanism: Mechanism
    options: KernelOptions
    presolved: Presolved
    routines: list[Routine]
    bind: dict[Expr, str]
    known: dict[Expr, str]
    observed: dict[Expr, str]
    arrays: dict[str, int]
    scale: list[float]
    full_scale: list[float]
    unit: float
    projection_scale: float
    phi_q: Entries
    weight_keys: list[tuple[int, int]]
    calls: list[str | Sweep]
    text: str
    is_large: bool
    state: dict[str, tuple[int, str]] = field(default_factory=dict)
    twin: tuple[str, ...] = ("formulations/ali3p.py.in",)
    twin_fill: dict[str, str] = field(default_factory=dict)
    pivot_limit: list[float] = field(default_factory=list)
    row_pivot_limit: list[float] = field(default_factory=list)
    freedoms: int = -1
    redundant: int = 0
    reactions: dict[str, str] = field(default_factory=dict)
    natural: Mechanism | None = None
    tables: list[str] = field(default_factory=list)
