"""Program to C99: the pieces that all targets in C put together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

from codegen.equations.program import Program, Routine, Sweep
from codegen.expressions import trig
from codegen.expressions.dag import Expr
from codegen.expressions.emit import LATENCY, Assign, C, Cost, Emitter, Flow
from codegen.expressions.folding import folded
from codegen.options.options import INDEX_3
from codegen.targets.describe import BLOCK_ABI, NOTES, VERSION
from codegen.targets.loops import looped, pieces
from codegen.targets.spelling import spelled
from rig_configs.plain import comment

HERE = Path(__file__).parent
# of each continuation part when assembling: 5 degrees, 20 mm
STRIDE = {"rad": 0.0873, "m": 0.02}
NEVER_SMALL = 1e30
LONGEST = 5000  # coordinates that are followed one by one
# pieces of a long routine: compilers take more than proportionally longer for long functions; and what
# a step calls several times: one copy stays in the instruction cache
SHARED = ("evaluate", "factorise", "solve")
APART = """\
#ifdef __GNUC__
#define APART __attribute__((noinline))
#else
#define APART
#endif"""
GAIN_FIELD = "    double gained; // energy that steps have added by themselves; J\n"
GAIN_SUM = "        d->gained = d->is_started ? d->gained + (double)w->gain[0] : 0.0;\n"
GAIN_KEEP = "        w->guided[0] = (real)guided_power(w);\n"
PUBLIC = ("prepare", "evaluate", "factorise", "solve", "unfold")
SIGNATURES = {
    "hold": "Work *restrict w, State *restrict s, State *restrict after",
    "factorise": "Work *restrict w, const real *weight",
    "solve": "Work *restrict w",
    "solve_guides": "Work *restrict w",
    "carry": "Work *restrict w",
}


class KernelText:
    """The parts of a kernel in C.

    With `has_block` what a face needs is visible outside; else everything is static, and routines
    that nothing here or in `calls` uses are left out.

    Attributes
    ----------
    costs : dict of str to Cost
        Operation counts of every routine; `step` is the count of one call.
    fill : dict of str to str
        For the templates beside this file.
    """

    def __init__(self, program: Program, *, has_block: bool, calls: str = "") -> None:
        self.program = program
        self.costs: dict[str, Cost] = {}
        self._flows: dict[str, list[Flow]] = {}
        self._tables: list[str] = []
        self._places = {f"Q_{c.name}": c.index for c in program.presolved.system.coordinates}
        first = "".join(f" {name}(" for routine in program.routines for name in routine.before)
        self._called = (HERE / "kernel.c.in").read_text() + program.text + calls + first
        found = {r.name: self._routine(r, has_block=has_block) for r in program.routines}
        printed = {name: text for name, text in found.items() if text}
        self.step = self._step_cost()
        self.fill = self._sizes() | self._fragments(has_block=has_block)
        self.fill["routines"] = "\n\n".join(printed.values())
        self.fill["stages"] = "\n".join(
            f"//     {r.name:17} {r.title}; {self.costs[r.name].slots} operations"
            for r in program.routines
            if r.name in printed
        )
        self.fill["constant_tables"] = "\n".join(
            [
                *_constant_tables(program, has_block=has_block),
                *(spelled(table, program.options.precision) for table in program.tables),
                *self._tables,
            ]
        )
        self.fill["types"] = self.filled("types.h.in")

    def filled(self, name: str, **more: str) -> str:
        """A template beside this file with its places filled."""
        return Template((HERE / name).read_text()).substitute(self.fill, **more)

    def _routine(self, routine: Routine, *, has_block: bool) -> str:
        program = self.program
        # who stores a value computes it
        own = {"evaluate": "w->trig", "prepare": "w->derived"}.get(routine.name, "-")
        known = {e: where for e, where in program.known.items() if not where.startswith(own)}
        tables: list[str] = []
        if routine.loop is not None:
            parts, cost, flows = routine.loop.functions, routine.loop.cost, [routine.loop.flow]
        elif program.is_large:
            made = looped(routine, program.bind, known, self._places)
            tables, parts, cost, flows = made.tables, pieces(made.blocks), made.cost, made.flows
        else:
            emitter = Emitter(C, program.bind, known)
            lines, cost = emitter.run(routine.assigns)
            parts, flows = [lines], [emitter.flow]
        flows = [_renamed(self._places, flow) for flow in flows]
        for name in reversed(routine.before):
            cost, flows = self.costs[name].plus(cost), [*self._flows[name], *flows]
        self.costs[routine.name], self._flows[routine.name] = cost, flows
        is_public = has_block and routine.name in PUBLIC
        called = rf"\b{routine.name}\("
        if not is_public and not re.search(called, self._called):
            return ""  # this step has no use for it
        self._tables += [spelled(table, program.options.precision) for table in tables]
        signature = SIGNATURES.get(routine.name, "Work *restrict w, State *restrict s")
        unused = [name for name in ("w", "s", "after") if f"*restrict {name}" in signature]
        if "*weight" in signature and not any(parts):
            unused.append("weight")  # a tree has nothing to factorise
        title = comment(f"{routine.title}; {cost}")
        texts = []
        if len(parts) > 1:
            calls = []
            for number, lines in enumerate(parts, 1):
                name = f"{routine.name}_{number}"
                note = f"part {number} of {routine.name}"
                head = f"static APART void {name}({signature})"
                texts.append(self._function(head, unused, note, lines))
                passed = re.findall(r"(\w+)(?:, |$)", signature)
                calls.append(f"{name}({', '.join(passed)});")
            parts = [calls]
        parts = [[*(f"{name}(w, s);" for name in routine.before), *(parts[0] if parts else [])]]
        apart = "APART " if routine.name in SHARED else ""
        if (apart or len(texts) > 0) and APART not in self._tables:
            self._tables.insert(0, APART)
        head = f"{'' if is_public else 'static '}{apart}void {routine.name}({signature})"
        texts.append(self._function(head, unused, title, parts[0]))
        return "\n\n".join(texts)

    def _function(self, head: str, unused: list[str], title: str, lines: list[str]) -> str:
        body = "\n".join(f"    {line}" for line in lines)
        return "\n".join([
            head,
            "{",
            f"    // {title}",
            f"    {', '.join(f'(void){name}' for name in unused)};",
            *([spelled(body, self.program.options.precision)] if body else []),
            "}",
        ])  # fmt: skip

    def _step_cost(self) -> Cost:
        """Work of one call; the critical path follows the data through all routines."""
        total, sizes = Cost(), self._sweep_sizes()
        for call in self._calls():
            if isinstance(call, Sweep):
                total.sweep += call.slots * sizes[call.size]
            else:
                total = total.plus(self.costs[call.partition(" ")[0]])
        total.path = self.critical_path({})
        return total

    def critical_path(self, latencies: Mapping[float, float], hop: float = 0.0) -> float:
        """The longest chain of operations of one call, through all of its routines.

        Parameters
        ----------
        latencies : mapping of float to float
            In place of those of `emit.LATENCY`, by their cycles; the unit of the result is theirs.
        hop : float
            On the way of a value from one routine to the next, through memory.
        """
        sizes, fma = self._sweep_sizes(), float(LATENCY["fma"])
        ready: dict[str, float] = {}
        for call in self._calls():
            if isinstance(call, Sweep):
                # the links of loops that long are all alike
                for k in range(sizes[call.size] if sizes[call.size] <= LONGEST else 1):
                    at = max(ready.get(f"{array}[{k}]", 0.0) for array in call.reads) + hop
                    for array in call.writes:
                        ready[f"{array}[{k}]"] = at + latencies.get(fma, fma)
                continue
            name, _, variant = call.partition(" ")
            for flow in self._flows[name]:
                flow.advance(ready, {"weight": f"w->weight_{variant}"}, latencies, hop)
        return max(ready.values(), default=0.0)

    def routine_path(self, name: str, latencies: Mapping[float, float], hop: float) -> float:
        """The longest chain of one routine by itself, as `critical_path` measures it."""
        ready: dict[str, float] = {}
        for flow in self._flows[name]:
            flow.advance(ready, {}, latencies, hop)
        return max(ready.values(), default=0.0) + hop

    def counted(self, latency: float) -> int:
        """Return how many operations of this latency, in cycles of `emit.LATENCY`, one call has."""
        return sum(
            sum(
                flow.repeats.get(number, 1)
                for number, (given, _) in enumerate(flow.steps)
                if given == latency
            )
            for call in self._calls()
            if not isinstance(call, Sweep)
            for flow in self._flows[call.partition(" ")[0]]
        )

    def _calls(self) -> list[str | Sweep]:
        counting = [Sweep("q", ["w->inverse"], [], 1)] if self.program.pivot_limit else []
        return [*self.program.calls, *counting]

    def _sweep_sizes(self) -> dict[str, int]:
        system = self.program.presolved.system
        return {"q": len(system.coordinates), "phi": len(system.rows)}

    def _sizes(self) -> dict[str, str]:
        program = self.program
        mechanism, options = program.mechanism, program.options
        system, full = program.presolved.system, mechanism.system
        reduced = len(program.presolved.removed)
        return {
            "version": VERSION,
            "abi": str(BLOCK_ABI),
            "name": comment(mechanism.name),
            "sha256": mechanism.sha256,
            "options": comment(options.short()),
            "slots": str(self.step.slots),
            "cost": str(self.step),
            "unit": f"{program.unit:.6g}",
            "reduced": f", after {reduced} linear ones were solved" if reduced else "",
            "real": {"float64": "double", "float32": "float"}[options.precision],
            "n_q": str(len(system.coordinates)),
            "n_phi": str(len(system.rows)),
            "n_all_q": str(len(full.coordinates)),
            "n_row_pivots": str(len(program.row_pivot_limit)),
            "n_all_phi": str(len(full.rows)),
            "n_guides": str(len(system.guides)),
            "n_par": str(len(system.parameters)),
            "n_signals": str(len(system.signals)),
            "n_internal": str(len(system.internals)),
            "freedoms": str(program.freedoms),
            "redundant": str(program.redundant),
            "n_shown_reactions": str(len(_cells(program))),
            "reaction_cells": ", ".join(
                [
                    *(f"w->reaction + {g}" for g in range(len(system.guides))),
                    *(f"&{cell}" for cell in _cells(program)),
                ]
                or ["w->reaction"]
            ),
            "n_outputs": str(len(mechanism.outputs)),
            "iterations": str(options.iterations),
            "substeps": str(options.substeps),
            "step_s": repr(options.step_s),
            "tolerance": repr(options.tolerance or 0.0),
            "residual_limit": repr(options.residual_limit),
        }

    def _fragments(self, *, has_block: bool) -> dict[str, str]:
        program = self.program
        # the others take their substeps inside `advance`
        is_split = program.options.substeps > 1 and program.options.formulation in INDEX_3
        remember = "        for (int i = 0; i < 3 * N_GUIDES; i++)\n            d->before[i] = w->guide[i];\n"
        cells = "    double *reads[N_READS + 1];\n    double *writes[N_WRITES];\n"
        split = "    State between[2];\n    double before[AT_LEAST_1(3 * N_GUIDES)]; // guide inputs of the last call\n"
        follow = Template((HERE / "follow.c.in").read_text())
        return _sincos() | {
            "api": "" if has_block else "static ",
            "coordinate_enum": "\n".join(
                f"    Q_{c.name} = {c.index}," for c in program.presolved.system.coordinates
            ).rstrip(","),
            "work_fields": "\n".join(
                _field(array, size, NOTES.get(array, "")) for array, size in program.arrays.items()
            ),
            "state_fields": "\n".join(
                _field(array, size, note) for array, (size, note) in program.state.items()
            ),
            "block_fields": cells if has_block else "",
            "substep_fields": split if is_split else "",
            "before": "d->before" if is_split else "NULL",
            "n_before": "3 * N_GUIDES" if is_split else "0",
            "follow": follow.substitute(step_s=repr(program.options.step_s)) if is_split else "",
            "advance": (
                "follow(d)"
                if is_split
                else "advance(w, &d->states[d->now], &d->states[1 - d->now])"
            ),
            "remember": remember if is_split else "",
            "gain_begin": "    w->gain[0] = 0.0;\n" if "gain" in program.arrays else "",
            "gain_sum": GAIN_SUM if "gain" in program.arrays else "",
            "gain_keep": GAIN_KEEP if "gain" in program.arrays else "",
            "gain_field": GAIN_FIELD if "gain" in program.arrays else "",
            "formulation": spelled(program.text, program.options.precision),
            "output_lines": "\n".join(_output_lines(program)),
        }  # fmt: skip


def _field(array: str, size: int, note: str) -> str:
    field = f"    real {array}[{max(1, size)}];"
    return f"{field:32}// {note}" if note else field


def _renamed(places: Mapping[str, int], flow: Flow) -> Flow:
    """Coordinates by number, as sweeps name them."""

    def plain(text: str) -> str:
        array, bracket, index = text.partition("[")
        return f"{array}[{places[index[:-1]]}]" if index[:-1] in places else array + bracket + index

    flow.cells = {plain(text): number for text, number in flow.cells.items()}
    flow.results = {plain(text): number for text, number in flow.results.items()}
    return flow


def _output_lines(program: Program) -> list[str]:
    system, full = program.presolved.system, program.mechanism.system
    graph = full.graph
    qdd = [graph.var(f"qdd {c.index}") for c in system.coordinates]
    accelerates = any(output.kind == "acceleration" for output in program.mechanism.outputs)
    shown = {
        "value": program.presolved.q,
        "rate": program.presolved.qd,
        "acceleration": program.presolved.spread(qdd) if accelerates else [],
    }
    bind = dict(program.bind)
    assigns = []
    for n, output in enumerate(program.mechanism.outputs):
        e: Expr
        if output.kind == "reaction":
            e = graph.var(f"reaction {output.index}")
            bind[e] = f"w->reaction[{output.index}]"
        elif output.kind == "gain":
            e = graph.var("gained")
            bind[e] = "d->gained"
        elif output.kind == "undetermined":
            number = output.index
            if output.path:
                number = len(system.guides) + _cells(program).index(program.reactions[output.path])
            e = graph.var(f"open {number}")
            bind[e] = f"d->open[{number}]"
        elif output.kind == "path":
            e = system.values[output.path]
        else:
            e = shown[output.kind][output.index]
        # over joint coordinates expressions are long: what is observed is taken from there
        shown_as = e if program.natural is not None else folded(e)
        assigns.append(Assign(f"d->outputs[{n}]", shown_as, output.port))
    lines, _ = Emitter(C, bind, program.observed).run(assigns)
    return [f"    {spelled(line, program.options.precision)}" for line in lines]


def _cells(program: Program) -> list[str]:
    """Return the cells of the reactions, without those of guides, each once."""
    return list(dict.fromkeys(program.reactions.values()))


def _constant_tables(program: Program, *, has_block: bool) -> list[str]:
    system, full = program.presolved.system, program.mechanism.system
    by_name = {c.name: c.index for c in full.coordinates}
    limits = [1.0 / limit if limit else NEVER_SMALL for limit in program.pivot_limit]
    rows = [1.0 / limit for limit in program.row_pivot_limit]
    never = [NEVER_SMALL] * len(system.coordinates)
    precision = program.options.precision

    def reals(name: str, values: list[float]) -> str:
        return spelled(table("static const real", name, values), precision)

    # only where a step asks for the load that a guide's row can bear
    scales = [
        reals("GUIDE_SCALE", [program.scale[g.row] for g in system.guides] or [1.0]),
        table("static const int", "GUIDE_ROW", [g.row for g in system.guides] or [0]),
    ] if "GUIDE_SCALE" in program.text else []  # fmt: skip
    kept = [
        "// place of each stepped coordinate among all",
        table("const int", "KEPT", [by_name[c.name] for c in system.coordinates]),
    ]
    return [
        "// scaled to unscaled violation: m or rad",
        reals("ROW_UNSCALE", [1.0 / w for w in program.scale] or [1.0]),
        "// 1 / pivot from which on a coordinate counts as free: the way to see singular poses",
        reals("SMALL_PIVOT_INVERSE", limits or never),
        reals("SMALL_ROW_PIVOT_INVERSE", rows or [NEVER_SMALL]),
        "// how far a guide moves in one part of the assembly; its coordinate",
        table("static const double", "GUIDE_STRIDE",
              [STRIDE[g.coordinate.unit] for g in system.guides] or [1.0]),
        table("static const int", "GUIDED", [g.coordinate.index for g in system.guides] or [0]),
        *scales,
        *(kept if has_block else []),
    ]  # fmt: skip


def table(kind: str, name: str, values: list) -> str:
    """A constant array."""
    rows = [", ".join(map(repr, values[k : k + 8])) for k in range(0, len(values), 8)]
    return f"{kind} {name}[{len(values)}] = {{\n    " + ",\n    ".join(rows) + "\n};"


def sine_cosine_text() -> str:
    """The function of every kernel that gives sine and cosine of an angle, in C."""
    whole = (HERE / "kernel.c.in").read_text()
    begin = whole.index("static inline void sine_cosine")
    return Template(whole[begin : whole.index("\n}\n", begin) + 3]).substitute(_sincos())


def _sincos() -> dict[str, str]:
    sine, cosine = trig.coefficients()
    first, second, third = trig.half_pi_parts()

    def horner(coefs: tuple[float, ...]) -> str:
        nested = repr(coefs[-1])
        for coef in reversed(coefs[:-1]):
            nested = f"({nested}) * z + {coef!r}" if " " in nested else f"{nested} * z + {coef!r}"
        return nested

    return {
        "half_pi_0": repr(first),
        "half_pi_1": repr(second),
        "half_pi_2": repr(third),
        "sine_poly": horner(sine),
        "cosine_poly": horner(cosine),
    }
