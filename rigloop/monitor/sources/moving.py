"""A mechanism that moves on a page: its own kernel, stepped over the inputs that the run has recorded."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.analysis.file_coordinates import FileCoordinates
from codegen.description.mechanism import MechanismError, load
from codegen.kernels.build import build_kernel
from codegen.kernels.toolchain import BuildError
from codegen.kernels.verify import VerificationError
from codegen.options.option_text import from_table
from rig_configs.mistakes import ConfigError
from rigloop.drawing.forces import drawn_forces
from rigloop.drawing.places import sketch
from rigloop.drawing.poses import Poses
from rigloop.protocol.description import DescribedMechanism

# a description may come from another machine: what compiles and how is for this one to say
TAKEN_OPTIONS = ("formulation", "integrator", "iterations", "rho_inf", "kappa")
MOST_STEPS = 2000  # of one piece; of a longer one the last cycles
TORQUE = re.compile(r"(.*)/torque_nm")
ANGLE_SIGN = "∠ "


class Moving:
    """A mechanism block of a rig.

    Its kernel is built in a thread; until then, and where it cannot be built, there is no pose but that of the file.

    Parameters
    ----------
    mechanism : DescribedMechanism
    period_us : int
        Of its task.

    Attributes
    ----------
    of : DescribedMechanism
    poses : Poses
    problem : str
        Why it does not move; empty: it does, or its kernel is being built.

    Raises
    ------
    MechanismError
        Its text has mistakes.
    """

    def __init__(self, mechanism: DescribedMechanism, period_us: int) -> None:
        self.of = mechanism
        self.problem = ""
        self._folder = tempfile.TemporaryDirectory(prefix="rigloop-page-")
        path = Path(self._folder.name) / f"{mechanism.name or 'mechanism'}.toml"
        path.write_text(mechanism.text, encoding="utf-8")
        found = load(path)
        self._system = found.system
        self._of_file: Any = None
        self._q = np.array([c.initial for c in found.system.coordinates], np.float64)
        made = sketch(path, found)
        self.poses, self._size, self._notes = Poses(made), made.size, list(made.notes)
        self._drawn_forces = drawn_forces(found.outputs, made)
        self._kernel: Any = None
        self._reads: list[str] = []
        self._ports: tuple[str, ...] = ()
        self._n_guide = 0
        self._is_placed = False
        threading.Thread(
            target=self._build, args=(path, period_us), name="kernel of a page", daemon=True
        ).start()

    @property
    def paths(self) -> list[str]:
        """Signals that a step needs, in the order of the kernel's ports; none before it is built."""
        return self._reads

    def drawing(self) -> dict[str, Any]:
        """Return what never changes: kind, style, name and colour of each shape, and its number of points."""
        drawn = self.poses.at(self._q)
        return {
            "block": self.of.block,
            "size": self._size,
            "placed": self.poses.n_placed,
            "notes": self._notes,
            "problem": self.problem,
            "shapes": [[d.kind, d.style, d.label, d.colour, len(d.points)] for d in drawn],
            "moments": self._moments(),
            "forces": self._forces(),
            "rest": np.concatenate([d.points for d in drawn]).ravel().tolist(),
        }

    def step(self, columns: Mapping[str, NDArray[np.float64]], again: bool) -> None:
        """Step over some cycles; `again`: cycles before them are missing."""
        if self._kernel is None or not self._reads:
            return
        rows = np.column_stack([columns[path] for path in self._reads])[-MOST_STEPS:]
        rows = rows[np.isfinite(rows).all(axis=1)]
        if not len(rows):
            return
        kernel, n = self._kernel, self._n_guide
        if again or not self._is_placed:
            self._is_placed = True
            if n:
                kernel.reset(*rows[0, :n].tolist())
            else:
                kernel.reset()
        names = self._ports[n:]
        for row in rows.tolist():
            if names:
                kernel.signals = dict(zip(names, row[n:], strict=True))
            kernel.step(*row[:n])
        q = np.asarray(kernel.q, np.float64)
        if np.isfinite(q).all():
            self._q = self._of_file.at(q)
        else:
            self._is_placed = False

    def points(self) -> NDArray[np.float64]:
        """Return the points of all shapes in this pose, shape (n, 3)."""
        return np.concatenate([drawn.points for drawn in self.poses.at(self._q)])

    def shapes(self) -> list[NDArray[np.float64]]:
        """Return the points of each shape in this pose, shape (n, 3) each."""
        return [drawn.points for drawn in self.poses.at(self._q)]

    def close(self) -> None:
        """Remove the file."""
        self._folder.cleanup()

    def _build(self, path: Path, period_us: int) -> None:
        chosen = {k: v for k, v in self.of.options.items() if k in TAKEN_OPTIONS}
        try:
            options = from_table("rig", chosen, step_s=period_us * 1e-6, wrapper="class")
            module = build_kernel(path, options).module
            kernel = module.Kernel(self.of.block)
            kernel.parameters = self.of.parameters
            names = [name for name, _ in module.model_info()["coordinates"]]
            self._of_file = FileCoordinates(self._system, names)
            self._n_guide = 3 * len(module.model_info()["guides"])
            self._ports = tuple(module.READ_PORTS)
            reads = [self.of.reads[port] for port in self._ports]
        except (ConfigError, MechanismError, BuildError, VerificationError, KeyError) as error:
            self.problem = f"{self.of.block} does not move here: {error}"
            return
        except OSError:
            # the page was closed meanwhile
            return
        self._kernel, self._reads = kernel, reads

    def _forces(self) -> list[dict[str, Any]]:
        """Return the forces that act at drawn shapes: number of the shape, signals, name."""
        found = []
        for force in self._drawn_forces:
            signals = [self.of.writes.get(port, "") for port in force.ports]
            if any(signals):
                found.append({"shape": force.shape, "signals": signals, "name": force.name})
        return found

    def _moments(self) -> list[dict[str, Any]]:
        """Return the torques that act about a drawn angle: number of the shape, signal, name."""
        found = []
        for port, path in self.of.writes.items():
            match = TORQUE.fullmatch(port)
            number = self._shape_of(match[1]) if match else None
            if number is None:
                continue
            shape = self.poses.shapes[number]
            is_placed = shape.kind == "arc"
            angle = shape.label.rpartition(ANGLE_SIGN)[2]
            points = self.poses.points_of(number, self._q) if is_placed else None
            found.append(
                {
                    "shape": number,
                    "signal": path,
                    "name": port,
                    "angle": self.of.writes.get(f"{angle}/angle_rad", ""),
                    "tyre": is_placed and "tyre" in port,
                    "centre": None if points is None else points[0].tolist(),
                    "axis": None if points is None else points[1].tolist(),
                }
            )
        return found

    def _shape_of(self, name: str) -> int | None:
        """Return the shape whose angle has the most words in common with a port; a guide's is the guided one."""
        words = set(re.split(r"[/_]", name)) - {"tyre"}
        best, found = 0, None
        for number, shape in enumerate(self.poses.shapes):
            if ANGLE_SIGN not in shape.label and shape.kind != "arc":
                continue
            score = len(words & set(re.split(r"[ _]", shape.label)))
            score += shape.style == "guide" and "guide" in words
            if score > best:
                best, found = score, number
        return found
