"""`rigloop model linearize`: where a mechanism rests, and how it moves about there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from codegen.analysis.linear_mechanism import LinearMechanism, linearise_mechanism
from codegen.analysis.linearise import LinearisationError
from codegen.analysis.modes import modes
from codegen.description.mechanism import Mechanism, MechanismError, find, load
from rig_configs.mistakes import Mistake
from rigloop.model.linearized import Linearized, RestingCoordinate

PICTURES = (".svg", ".png", ".pdf")


def linearize(
    name: str,
    inputs: Iterable[str] = (),
    parameters: Iterable[str] = (),
    *,
    output: Path | None = None,
    plot: Path | None = None,
) -> Linearized:
    """Linearise a mechanism where it rests, and write what was asked for.

    Parameters
    ----------
    name : str
        A mechanism file, or the name of one that ships.
    inputs, parameters : iterable of str
        `port=value` and `path=value`.
    output : Path, optional
        `.npz` that gets the matrices.
    plot : Path, optional
        Picture of poles, modes and responses.

    Raises
    ------
    MechanismError
        With every mistake of the file and of the options, or the reason why nothing can be linearised.
    """
    path = find(name)
    mistakes = [*_wrong(output, plot)]
    values = [
        _pairs(words, option, mistakes)
        for option, words in (("--input", inputs), ("--parameter", parameters))
    ]
    if mistakes:
        raise MechanismError(mistakes)
    mechanism = load(path)
    try:
        linear = linearise_mechanism(mechanism, *values)
    except LinearisationError as error:
        mistake = Mistake(path.name, "equilibrium", error.problem, error.remedy)
        raise MechanismError([mistake]) from None
    found = _facts(mechanism, linear, values[0] | values[1])
    try:
        if output is not None:
            _write(output, found, linear)
        if plot is not None:
            from rigloop.model.linear_plot import draw

            draw(found, linear, plot)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise MechanismError(
            [Mistake(str(error.filename), "file", problem, "give another")]
        ) from None
    return found  # fmt: skip


def _facts(mechanism: Mechanism, linear: LinearMechanism, given: dict[str, float]) -> Linearized:
    rest = linear.equilibrium
    found = modes(mechanism, linear)
    kinds = {mode.kind for mode in found}
    is_swinging = any(mode.kind == "oscillates" and mode.damping_ratio < 1e-9 for mode in found)
    stability = "neutral" if "free" in kinds or is_swinging else "stable"
    coordinates = tuple(
        RestingCoordinate(c.name, "" if c.unit == "1" else c.unit, float(q), float(q - c.initial))
        for c, q in zip(mechanism.system.coordinates, rest.moment.q, strict=True)
    )
    return Linearized(
        name=mechanism.name,
        sha256=mechanism.sha256,
        dof=rest.dof,
        given=given,
        coordinates=coordinates,
        at=linear.at,
        search_steps=rest.steps,
        unbalanced=rest.unbalanced,
        stability="unstable" if "grows" in kinds else stability,
        states=linear.states,
        inputs=linear.inputs,
        outputs=linear.outputs,
        a=linear.a.tolist(),
        b=linear.b.tolist(),
        c=linear.c.tolist(),
        d=linear.d.tolist(),
        modes=found,
        kinks=linear.kinks,
    )


def _write(output: Path, found: Linearized, linear: LinearMechanism) -> None:
    poles = np.array([complex(*mode.pole_rad_s) for mode in found.modes])
    with output.open("wb") as file:
        np.savez(
            file,
            a=linear.a, b=linear.b, c=linear.c, d=linear.d,
            states=np.array(found.states, str), inputs=np.array(found.inputs, str),
            outputs=np.array(found.outputs, str), poles_rad_s=poles.astype(complex),
            coordinates=np.array([c.name for c in found.coordinates], str),
            equilibrium=linear.equilibrium.moment.q, shape=linear.shape,
            sha256=np.array(found.sha256),
        )  # fmt: skip


def _pairs(words: Iterable[str], option: str, mistakes: list[Mistake]) -> dict[str, float]:
    found: dict[str, Any] = {}
    for word in words:
        key, sign, text = word.partition("=")
        try:
            found[key.strip()] = float(text)
        except ValueError:
            problem = "is not name=number" if sign else "has no '='"
            remedy = f"write {option} name=0.5"
            mistakes.append(Mistake("command line", option, problem, remedy, word))
    return found


def _wrong(output: Path | None, plot: Path | None) -> Iterator[Mistake]:
    for path, option, endings in ((output, "--output", (".npz",)), (plot, "--plot", PICTURES)):
        if path is None:
            continue
        if path.suffix not in endings:
            yield Mistake(
                str(path),
                option,
                "is not a file that can be written",
                f"end it with {', '.join(endings)}",
            )
        elif not path.parent.is_dir():
            yield Mistake(str(path), option, "its folder is not there", "make it, or give another")  # fmt: skip
