"""The picture of a linearised mechanism: poles, mode shapes, responses of outputs to inputs."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from codegen.analysis.linear_mechanism import LinearMechanism
from rigloop.model.linearized import Linearized
from rigloop.plots.figures import BLUE, COLOURS, GREY, INK, ORANGE, STYLE

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

MOST_SHAPES = 6
MOST_SIGNALS = 8
MOST_LINES = 5
POINTS = 600
SMALL = 1e-12  # of the largest response: nothing goes that way


def draw(found: Linearized, linear: LinearMechanism, path: Path) -> None:
    """Draw it into a .png, .svg or .pdf."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": "linearize"}):
        hz = _frequencies(found)
        lines = _responses(hz, found, linear)
        figure = Figure(figsize=(10.5, 7.0 if lines else 3.8), layout="constrained")
        panels = figure.subplots(2 if lines else 1, 2, squeeze=False)
        poles, shapes = panels[0]
        _poles(poles, found)
        _shapes(shapes, found)
        if lines:
            _bode(panels[1], hz, lines)
        figure.suptitle(
            f"{found.name} about its equilibrium: {found.stability}", x=0.01, ha="left", fontsize=11, color=INK
        )  # fmt: skip
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _poles(axes: Axes, found: Linearized) -> None:
    axes.set_title("poles (rad/s)", loc="left", fontsize=10)
    axes.axvline(0.0, color=GREY, lw=0.8)
    axes.axhline(0.0, color=GREY, lw=0.8)
    for mode in found.modes:
        real, imaginary = mode.pole_rad_s
        colour = ORANGE if mode.kind == "grows" else BLUE
        axes.plot([real, real], [imaginary, -imaginary], "x", color=colour, ms=7, mew=1.6)
        if imaginary:
            axes.annotate(
                f"{mode.frequency_hz:.3g} Hz, {mode.damping_ratio:.2g}", (real, imaginary),
                textcoords="offset points", xytext=(7, 3), fontsize=8,
            )  # fmt: skip
    axes.set_xlabel("real: growth")
    axes.set_ylabel("imaginary")
    values = np.array([mode.pole_rad_s for mode in found.modes] or [(0.0, 0.0)])
    # poles of very different size, as of stiff and of slow parts
    sizes = np.hypot(*values.T)
    sizes = sizes[sizes > 0.0]
    if sizes.size and sizes.max() > 100.0 * sizes.min():
        axes.set_xscale("symlog", linthresh=sizes.min())
        axes.set_yscale("symlog", linthresh=sizes.min())
    else:
        reach = 1.25 * (sizes.max() if sizes.size else 1.0)
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-reach, reach)


def _shapes(axes: Axes, found: Linearized) -> None:
    axes.set_title("mode shapes, largest part 1", loc="left", fontsize=10)
    modes = found.modes[:MOST_SHAPES]
    names: list[str] = []
    for mode in modes:
        names += [p.signal for p in mode.shape[:MOST_SIGNALS] if p.signal not in names]
    names = names[:MOST_SIGNALS]
    width = 0.8 / max(1, len(modes))
    for number, mode in enumerate(modes):
        parts = {p.signal: p.amplitude * np.cos(np.radians(p.phase_deg)) for p in mode.shape}
        places = np.arange(len(names)) + number * width
        label = mode.kind if mode.kind == "free" else f"{mode.frequency_hz:.3g} Hz, {mode.kind}"
        colour = (*COLOURS, INK)[number % (len(COLOURS) + 1)]
        axes.barh(places, [parts.get(n, 0.0) for n in names], width, color=colour, label=label)
    axes.set_yticks(np.arange(len(names)) + 0.4 - width / 2.0, names, fontsize=8)
    axes.invert_yaxis()
    axes.axvline(0.0, color=GREY, lw=0.8)
    if modes:
        axes.legend(loc="best", fontsize=8)


def _responses(hz: Array, found: Linearized, linear: LinearMechanism) -> list[tuple[str, Complex]]:
    """Responses that there are, each with its name; rate and acceleration of a guide follow its position."""
    if not (found.inputs and found.outputs):
        return []
    n_guides = sum(name.startswith("guide/") for name in found.inputs) // 3
    g = linear.response(hz)
    s = 2j * np.pi * hz[:, None]
    moved = [
        g[:, :, 3 * k] + s * g[:, :, 3 * k + 1] + s**2 * g[:, :, 3 * k + 2] for k in range(n_guides)
    ]
    moved += [g[:, :, k] for k in range(3 * n_guides, len(found.inputs))]
    names = [found.inputs[3 * k] for k in range(n_guides)] + list(found.inputs[3 * n_guides :])
    largest = max(float(np.max(np.abs(m))) for m in moved)
    return [
        (f"{output} / {name}", m[:, row])
        for name, m in zip(names, moved, strict=True)
        for row, output in enumerate(found.outputs)
        if np.max(np.abs(m[:, row])) > SMALL * largest
    ][:MOST_LINES]


def _bode(panels: np.ndarray, hz: Array, lines: list[tuple[str, Complex]]) -> None:
    gain: Axes = panels[0]
    phase: Axes = panels[1]
    gain.set_title("responses: output over a sine at an input", loc="left", fontsize=10)
    phase.set_title("phase (°)", loc="left", fontsize=10)
    for (label, value), colour in zip(lines, COLOURS, strict=False):
        gain.loglog(hz, np.maximum(np.abs(value), 1e-300), color=colour, lw=1.3, label=label)
        phase.semilogx(hz, np.degrees(np.unwrap(np.angle(value))), color=colour, lw=1.3)
    for panel in (gain, phase):
        panel.set_xlabel("frequency (Hz)")
    gain.legend(loc="best", fontsize=7.5)


def _frequencies(found: Linearized) -> Array:
    known = [mode.frequency_hz for mode in found.modes if mode.frequency_hz > 0.0]
    low, high = min([0.1, *(f / 10.0 for f in known)]), max([30.0, *(f * 10.0 for f in known)])
    return np.geomspace(low, high, POINTS)
