"""Forces among the outputs of a mechanism, and the shapes of its drawing at which they act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.description.outputs import Output
from rigloop.drawing.sketch import Sketch

ALONG = ("force_n", "pull_n")  # tension along a spring or link: its ends are drawn together
COMPONENTS = ("fx_n", "fy_n", "fz_n")
LINES = ("line", "spring")


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


def drawn_forces(outputs: Sequence[Output], sketch: Sketch) -> list[DrawnForce]:
    """Return the forces of springs, links and joints that outputs show, by element.

    Parameters
    ----------
    outputs : sequence of Output
    sketch : Sketch
        Of the same mechanism.

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
        number = sketch.place_of.get(element)
        if number is None:
            continue
        along = next((ports[value] for value in ALONG if value in ports), None)
        if along is not None and sketch.shapes[number].kind in LINES:
            found.append(DrawnForce(number, element, (along,)))
        elif ports.keys() & set(COMPONENTS):
            components = tuple(ports.get(value, "") for value in COMPONENTS)
            found.append(DrawnForce(number, element, components))
    return found
