"""Outputs over the coordinates of a tree with loops: reactions of joints that are cut, and of those that are not."""

from __future__ import annotations

from codegen.description.outputs import Output
from codegen.expressions.dag import Expr
from codegen.system.system import System
from codegen.tree.places import Coordinates
from codegen.tree.reactions import Reactions
from rig_configs.mistakes import Mistake

ROW = "row_lam "


class ClosedOutputs:
    """Outputs one after the other; `mistakes` has those that are not carried.

    Parameters
    ----------
    numbers : dict of int to int
        The number here of each row of the file that is kept.
    """

    def __init__(
        self,
        source: System,
        system: System,
        coordinates: Coordinates,
        joints: Reactions,
        numbers: dict[int, int],
    ) -> None:
        self._source, self._system = source, system
        self._coordinates, self._joints, self._numbers = coordinates, joints, numbers
        self.mistakes: list[Mistake] = []

    def output(self, output: Output) -> Output:
        """The same output over the new coordinates."""
        is_path = output.kind in ("path", "undetermined")
        if output.kind == "gain":
            problem = "the gain of a step is weighed in natural coordinates only"
            self._refuse(f"outputs.{output.port}", problem)
            return output
        if output.kind == "reaction" or (output.kind == "undetermined" and not output.path):
            return output
        path = output.path if is_path else f"outputs/{output.port}"
        made = self.shown(path, f"outputs.{output.port}") if is_path else self._part(output)
        self._system.values[path] = made
        if output.kind == "path" or not is_path:
            return Output(output.port, "path", 0, path)
        if self._rows_in(made):
            return Output(output.port, "undetermined", -1, path)
        path = f"outputs/{output.port}"
        self._system.values[path] = self._system.graph.zero
        return Output(output.port, "path", 0, path)

    def _part(self, output: Output) -> Expr:
        part = ("value", "rate", "acceleration").index(output.kind)
        return self._coordinates.of(self._source.coordinates[output.index].q, part)

    def shown(self, path: str, key: str) -> Expr:
        """A value that an element names, by its path; `key` is what a mistake names."""
        graph = self._system.graph
        potential = graph.zero if self._system.potential is None else self._system.potential
        if path == "outputs/energy.potential":
            return potential
        if path in ("outputs/energy", "outputs/energy.kinetic"):
            return self._kinetic() + (potential if path == "outputs/energy" else graph.zero)
        joint = self._joints.of(path)
        if joint is not None:
            return joint
        return self.over(self._source.values[path], key)

    def over(self, value: Expr, key: str) -> Expr:
        """An expression of the file, with multipliers of its rows; `key` is what a mistake names."""
        graph = self._system.graph
        rows = {number: graph.var(f"{ROW}{number}") for number in self._rows_in(value)}
        missing = [r for r in rows if r not in self._numbers]
        if missing:
            label = self._source.rows[missing[0]].label
            self._refuse(key, f"shows the reaction of '{label}', which the tree keeps by itself")
            return graph.zero
        put = self._coordinates.put(value)
        moves = {var: graph.var(f"{ROW}{self._numbers[r]}") for r, var in rows.items()}
        return graph.substitute(put, moves) if moves else put

    def _kinetic(self) -> Expr:
        graph, c = self._system.graph, self._system.coordinates
        return graph.total(
            ((0.5 if i == j else 1.0), mass * (c[i].qd * c[j].qd))
            for (i, j), mass in self._system.mass.items()
        )

    def _rows_in(self, value: Expr) -> list[int]:
        names = [var.name for var in self._system.graph.variables(value)]
        return [int(name.removeprefix(ROW)) for name in names if name.startswith(ROW)]

    def _refuse(self, key: str, problem: str) -> None:
        remedy = "leave it out, or take formulation = 'ali3p'"
        self.mistakes.append(Mistake(self._source.file, key, problem, remedy))
