"""The declaration of a compiled block: what its TOML file says of ports, parameters, state and faults.

Reading one compiles, imports and loads nothing: the C source beside it is taken as bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError

from codegen.kernels.toolchain import digest
from codegen.options.compiler_flags import mistakes as flag_mistakes
from rig_configs.bounded import UnreadableError, parse_toml, read_bytes
from rig_configs.mistakes import ConfigError, Mistake, from_validation
from rig_configs.names import Line, name_problem
from rig_configs.numbers import LARGEST, Real, number_problem
from rig_configs.schema import Section
from rigloop.blocks.compiled.unit_rule import UnitRule, unit_rule

MOST_BYTES = 1 << 18  # of a declaration, and of a source
MOST_PORTS = 64
MOST_STATE_WORDS = 1 << 21  # of 8 bytes
MOST_LIST = 1_000_000
LOWER = re.compile(r"[a-z][a-z0-9_]*")
REMEDY_NAME = "use lower-case letters, digits and _, a letter first, no reserved word"
TAKEN = ("kind", "reads", "writes", "unit")  # keys that a block of a rig has anyway


def _collapsed(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


Paragraph = Annotated[str, Field(min_length=1, max_length=1500), BeforeValidator(_collapsed)]
Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]
Number = Real | Whole


class Input(Section):
    """A signal that the block reads; one with `otherwise` may stay unwired, and has that value then."""

    unit: str
    about: Line
    otherwise: Real | None = None


class Output(Section):
    """A signal that the block writes in every cycle."""

    unit: str
    about: Line


class Parameter(Section):
    """A key of the block in a rig file.

    `number` and `whole` are numbers; `list` numbers in a list; `choice` one of some words; `samples` a CSV
    file, its `columns` by name; `expression` arithmetic of the inputs.
    """

    about: Line
    type: Literal["number", "whole", "list", "choice", "samples", "expression"] = "number"
    unit: str = "1"
    default: Number | list[Real] | str | None = None  # without one the rig must give it
    example: Number | list[Real] | str | None = None  # of a key without a default, for its page
    least: Number | None = None
    most: Number | None = None
    above: Number | None = None
    below: Number | None = None
    # of a list
    fewest: Annotated[int, Field(ge=0, le=MOST_LIST)] = 1
    longest: Annotated[int, Field(ge=1, le=MOST_LIST)] = 1000
    rising: bool = False
    length: str | None = None  # that of another list, or the product of two: "x * y"
    choices: list[str] = Field([], max_length=64)
    columns: list[str] = Field([], max_length=8)  # the first one rises, where `rising`

    @property
    def limits(self) -> list[tuple[str, float]]:
        """Limits of each number, in words."""
        named = ((">=", self.least), ("<=", self.most), (">", self.above), ("<", self.below))
        return [(sign, limit) for sign, limit in named if limit is not None]


class State(Section):
    """A number, or array of them, that is kept from step to step; all are zero before the first one."""

    about: Line
    type: Literal["number", "integer", "bits"] = "number"  # double, int64_t, uint64_t
    size: Annotated[int, Field(ge=1, le=MOST_STATE_WORDS)] | str | None = (
        None  # or a whole parameter
    )


class Declaration(Section):
    """A compiled block, as its file says."""

    about: Paragraph
    inputs: dict[str, Input] = Field({}, max_length=MOST_PORTS)
    outputs: Annotated[dict[str, Output], Field(min_length=1, max_length=MOST_PORTS)]
    parameters: dict[str, Parameter] = Field({}, max_length=MOST_PORTS)
    state: dict[str, State] = Field({}, max_length=MOST_PORTS)
    faults: dict[str, Line] = Field({}, max_length=MOST_PORTS)
    elapsed: bool = False  # the step gets how many periods have passed since the last one
    prepare: bool = False  # the source has a function that runs once, before the first step
    cflags: list[str] = Field([], max_length=32)


@dataclass(frozen=True)
class Declared:
    """A block that has been read, and not compiled.

    Attributes
    ----------
    name : str
        Of the kind; that of its files.
    path : Path
        Of the declaration.
    declaration : Declaration
    text, source : bytes
        Of declaration and C source, as they were read together.
    """

    name: str
    path: Path
    declaration: Declaration
    text: bytes
    source: bytes

    @cached_property
    def hash(self) -> str:
        """Over name, declaration and source: what is trusted, and what is compiled."""
        return digest([b"rigloop block", self.name.encode(), self.text, self.source])

    @cached_property
    def units(self) -> dict[str, UnitRule]:
        """The rules by which the unit of each port follows."""
        ports: dict[str, Input | Output] = {**self.declaration.inputs, **self.declaration.outputs}
        return {name: unit_rule(port.unit, ports) for name, port in ports.items()}

    @property
    def faults(self) -> dict[int, str]:
        """Fault codes of a step in words."""
        return dict(enumerate(self.declaration.faults.values(), start=1))


def read_declared(path: Path) -> Declared:
    """Read the declaration of a block, and the source of the same name beside it.

    Raises
    ------
    ConfigError
        With every mistake of the declaration; or a file that is missing, too large, or no text.
    """
    file = str(path)
    try:
        text = read_bytes(path, MOST_BYTES)
        data = parse_toml(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _unusable(file, f"is not a text file: byte {error.start} is not UTF-8") from None
    except UnreadableError as error:
        raise _unusable(file, str(error)) from None
    except OSError as error:
        raise _unusable(file, error.strerror or str(error)) from None
    mistakes = []
    name = path.stem
    if problem := _name_problem(name):
        mistakes.append(Mistake(file, "(file)", f"its name {problem}", REMEDY_NAME, name))
    source = b""
    try:
        source = read_bytes(path.with_suffix(".c"), MOST_BYTES)
        source.decode("utf-8")
    except OSError as error:
        problem = f"its source {path.with_suffix('.c').name}: {error.strerror}"
        mistakes.append(Mistake(file, "(file)", problem, "put the C source beside the declaration"))
    except UnicodeDecodeError:
        problem = f"its source {path.with_suffix('.c').name} is no UTF-8 text"
        mistakes.append(Mistake(file, "(file)", problem, "save it as UTF-8"))
    try:
        declaration = Declaration.model_validate(data)
    except ValidationError as error:
        raise ConfigError([*mistakes, *from_validation(file, error, Declaration, data)]) from None
    mistakes += [Mistake(file, *found) for found in _mistakes(declaration)]
    if mistakes:
        raise ConfigError(mistakes)
    return Declared(name, path, declaration, text, source)


def _unusable(file: str, problem: str) -> ConfigError:
    return ConfigError([Mistake(file, "(file)", problem, "is it the declaration of a block?")])


def _name_problem(name: str) -> str | None:
    if problem := name_problem(name):
        return problem
    if not LOWER.fullmatch(name) or name.startswith("rigloop"):
        return "is no lower-case name, or starts with 'rigloop'"
    return None


Found = tuple[str, str, str]  # key, problem, remedy


def _mistakes(declaration: Declaration) -> Iterator[Found]:
    yield from _name_mistakes(declaration)
    ports: dict[str, Input | Output] = {**declaration.inputs, **declaration.outputs}
    for name, given in declaration.inputs.items():
        yield from _unit_mistakes(f"inputs.{name}.unit", given.unit, ports, name)
    for name, output in declaration.outputs.items():
        yield from _unit_mistakes(f"outputs.{name}.unit", output.unit, ports, name)
        if output.unit.strip() == "any":
            problem = "an output has a unit of its own, or one that follows from other ports"
            yield f"outputs.{name}.unit", problem, "write as u, or key unit"
    for name, parameter in declaration.parameters.items():
        yield from _unit_mistakes(f"parameters.{name}.unit", parameter.unit, ports, None)
        yield from _parameter_mistakes(f"parameters.{name}", parameter, declaration)
    yield from _state_mistakes(declaration)
    for found in flag_mistakes(declaration.cflags, "none"):
        key, _, problem = found.partition(": ")
        yield key, problem, ""


def _name_mistakes(declaration: Declaration) -> Iterator[Found]:
    parts = {
        "inputs": [*declaration.inputs],
        "outputs": [*declaration.outputs],
        "parameters": [*declaration.parameters],
        "state": [*declaration.state],
        "faults": [*declaration.faults],
    }
    for key, names in parts.items():
        for name in names:
            if problem := _name_problem(name):
                yield f"{key}.{name}", problem, REMEDY_NAME
    for name, parameter in declaration.parameters.items():
        if name in TAKEN:
            yield f"parameters.{name}", "every block of a rig has this key", "take another name"
        for word in (*parameter.choices, *parameter.columns):
            if problem := _name_problem(word):
                yield f"parameters.{name}", f"{word!r} {problem}", REMEDY_NAME
    ports = Counter([*declaration.inputs, *declaration.outputs])
    for name in (name for name, n in ports.items() if n > 1):
        yield f"outputs.{name}", "an input has this name too", "give each port its own name"
    members = Counter(name for p in declaration.parameters for name in members_of(p, declaration))
    for name in (name for name, n in members.items() if n > 1):
        problem = f"two parameters give the member {name!r}"
        yield "parameters", problem, "rename one: a list x brings n_x"
    words = Counter(
        f"{name}_{word}".upper()
        for name, parameter in declaration.parameters.items()
        for word in parameter.choices
    )
    words.update(f"fault_{name}".upper() for name in declaration.faults)
    for name in (name for name, n in words.items() if n > 1):
        yield "(file)", f"two choices or faults give the constant {name}", "rename one"


def members_of(name: str, declaration: Declaration) -> list[str]:
    """Members that a parameter has in the C struct."""
    parameter = declaration.parameters[name]
    match parameter.type:
        case "list":
            return [name, f"n_{name}"]
        case "samples":
            return [*(f"{name}_{column}" for column in parameter.columns), f"n_{name}"]
        case "expression":
            return []
    return [name]


def _unit_mistakes(
    key: str, text: str, ports: Mapping[str, Input | Output], name: str | None
) -> Iterator[Found]:
    try:
        rule = unit_rule(text, ports)
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        yield key, problem, remedy
        return
    seen, waiting = set(), list(rule.ports)
    while waiting:
        port = waiting.pop()
        if port == name:
            yield key, "follows from itself", "write any, key unit, or a unit"
            return
        if port not in seen:
            seen.add(port)
            try:
                waiting += unit_rule(ports[port].unit, ports).ports
            except ValueError:  # is a mistake of that port
                continue


def _parameter_mistakes(key: str, parameter: Parameter, whole: Declaration) -> Iterator[Found]:
    kind = parameter.type
    numeric = kind in ("number", "whole", "list")
    if not numeric and parameter.limits:
        yield key, f"a {kind} has no limits", "take them out"
    if bool(parameter.choices) != (kind == "choice"):
        yield (
            f"{key}.choices",
            "a choice, and nothing else, has choices",
            "list them, or take them out",
        )
    if bool(parameter.columns) != (kind == "samples"):
        yield (
            f"{key}.columns",
            "samples, and nothing else, have columns",
            "list them, or take them out",
        )
    if parameter.rising and kind not in ("list", "samples"):
        yield f"{key}.rising", "only a list or samples rise", "take it out"
    if parameter.length is not None:
        lists = [name for name, p in whole.parameters.items() if p.type == "list"]
        names = [name.strip() for name in parameter.length.split("*")]
        if kind != "list" or len(names) > 2 or not set(names) <= set(lists):
            yield f"{key}.length", "is no list of this block", "write x, or x * y"
    if parameter.fewest > parameter.longest:
        yield f"{key}.fewest", f"is more than longest = {parameter.longest}", "lower it"
    if parameter.default is not None:
        if kind in ("samples", "expression"):
            yield f"{key}.default", f"{kind} have none", "the rig gives them"
        for problem in value_problems(parameter, parameter.default):
            yield f"{key}.default", problem, "give a value within the limits"
    if parameter.example is not None:
        for problem in value_problems(parameter, parameter.example):
            yield f"{key}.example", problem, "give a value within the limits"


def value_problems(parameter: Parameter, value: object) -> Iterator[str]:
    """Find what keeps a value from being that of a parameter; the rig's schema has seen its type."""
    kind = parameter.type
    if kind == "choice":
        if value not in parameter.choices:
            yield f"is none of {', '.join(parameter.choices)}"
        return
    if kind == "list":
        if not isinstance(value, list):
            yield "is no list of numbers"
            return
        if not parameter.fewest <= len(value) <= parameter.longest:
            yield f"has {len(value)} numbers, {parameter.fewest} to {parameter.longest} are allowed"
        if parameter.rising:
            yield from falling(value)
        for place, number in enumerate(value):
            if problem := number_problem(number):
                yield f"number {place} {problem}"
            for sign, limit in _broken(parameter, number):
                yield f"number {place} is {number:g}, must be {sign} {limit:g}"
        return
    if kind in ("samples", "expression"):
        return
    if isinstance(value, bool) or not isinstance(value, int if kind == "whole" else int | float):
        yield f"is no {'whole ' if kind == 'whole' else ''}number"
        return
    if problem := number_problem(value, largest=2.0**53 if kind == "whole" else LARGEST):
        yield problem
    for sign, limit in _broken(parameter, value):
        yield f"must be {sign} {limit:g}"


def falling(values: list[float]) -> Iterator[str]:
    """Find the first number of a list that is not above the one before."""
    for place in range(1, len(values)):
        if not values[place] > values[place - 1]:
            yield (
                f"does not rise: number {place} is {values[place]:g}, "
                f"the one before {values[place - 1]:g}"
            )
            return


def _broken(parameter: Parameter, value: float) -> list[tuple[str, float]]:
    holds = {">=": float.__ge__, "<=": float.__le__, ">": float.__gt__, "<": float.__lt__}
    return [(s, limit) for s, limit in parameter.limits if not holds[s](float(value), float(limit))]


def _state_mistakes(declaration: Declaration) -> Iterator[Found]:
    words = 0
    for name, state in declaration.state.items():
        size = state.size
        if isinstance(size, str):
            parameter = declaration.parameters.get(size)
            if parameter is None or parameter.type != "whole":
                problem = "is neither a number nor a whole parameter"
                yield f"state.{name}.size", problem, "write 4, or the name of a parameter"
                continue
            if not (parameter.least or 0) >= 1 or parameter.most is None:
                problem = f"parameters.{size} has no least of 1 or more, or no most"
                yield f"state.{name}.size", problem, "give it both"
                continue
            size = int(parameter.most)
        words += size or 1
    if words > MOST_STATE_WORDS:
        problem = f"{words} numbers, at most {MOST_STATE_WORDS}"
        yield "state", problem, "keep less"
