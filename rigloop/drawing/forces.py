"""Forces among the outputs of a mechanism, and the shapes of its drawing at which they act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.description.outputs import Output
from rigloop.drawing.sketch import Shape

ALONG = ("force_n", "pull_n")  # tension along a spring or link: its ends are drawn together
COMPONENTS = ("fx_n", "fy_n", "fz_n")
LINES, MARKS = ("line", "spring"), ("mark",)


@dataclass(frozen=True)
class DrawnForce:
    """A force that a drawing can show.

    Attributes
    ----------
    shape : int
        Number of the shape at which it acts.
    name : str
        Of the element, `<table>/<name>`.
    ports : tuple of str
        One output: tension along the line of the shape, N. Three: components along x, y and z of the ground, N; an
        empty one is no output, and taken as 0.
    """

    shape: int
    name: str
    ports: tuple[str, ...]


def drawn_forces(outputs: Sequence[Output], shapes: Sequence[Shape]) -> list[DrawnForce]:
    """Return the forces of springs, links and joints that outputs show, by element.

    Parameters
    ----------
    outputs : sequence of Output
    shapes : sequence of Shape

    Returns
    -------
    list of DrawnForce
    """
    shown: dict[str, dict[str, str]] = {}
    for output in outputs:
        element, _, value = output.path.rpartition("/")
        if output.kind == "path" and value in (*ALONG, *COMPONENTS):
            shown.setdefault(element, {})[value] = output.port
    found = []
    for element, ports in shown.items():
        name = element.rpartition("/")[2]
        along = next((ports[value] for value in ALONG if value in ports), None)
        line, mark = _labelled(shapes, name, LINES), _labelled(shapes, name, MARKS)
        if along is not None and line is not None:
            found.append(DrawnForce(line, element, (along,)))
        elif mark is not None and ports.keys() & set(COMPONENTS):
            found.append(
                DrawnForce(mark, element, tuple(ports.get(value, "") for value in COMPONENTS))
            )
    return found


def _labelled(shapes: Sequence[Shape], name: str, kinds: tuple[str, ...]) -> int | None:
    for number, shape in enumerate(shapes):
        if shape.kind in kinds and name in shape.label.split():
            return number
    return None
