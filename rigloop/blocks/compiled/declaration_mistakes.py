"""Mistakes of a declaration that its schema does not see: names, units, limits and sizes that contradict each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from rig_configs import units
from rig_configs.names import name_problem
from rigloop.blocks.compiled.declaration import (
    HALF_RATE,
    MOST_STATE_WORDS,
    Declaration,
    Input,
    Output,
    Parameter,
    members_of,
)
from rigloop.blocks.compiled.parameter_values import value_problems
from rigloop.blocks.compiled.unit_rule import unit_rule
from rt_core.settings import Refusal

LOWER = re.compile(r"[a-z][a-z0-9_]*")
REMEDY_NAME = "use lower-case letters, digits and _, a letter first, no reserved word"
TAKEN = ("kind", "reads", "writes", "unit")  # keys that a block of a rig has anyway


def kind_name_problem(name: str) -> str | None:
    """Say what keeps a text from naming a block, a port, a key or a choice; None: nothing."""
    if problem := name_problem(name):
        return problem
    if not LOWER.fullmatch(name) or name.startswith("rigloop"):
        return "is not a lower-case name, or starts with 'rigloop'"
    return None


Found = tuple[str, str, str]  # key, problem, remedy


def declaration_mistakes(declaration: Declaration) -> Iterator[Found]:
    """Find what the schema does not see: names, units, limits and sizes that contradict each other."""
    yield from _name_mistakes(declaration)
    ports: dict[str, Input | Output] = {**declaration.inputs, **declaration.outputs}
    for name, given in declaration.inputs.items():
        yield from _unit_mistakes(f"inputs.{name}.unit", given.unit, ports, name)
        yield from _need_mistakes(f"inputs.{name}", given, declaration)
    for name, output in declaration.outputs.items():
        yield from _unit_mistakes(f"outputs.{name}.unit", output.unit, ports, name)
        if output.unit.strip() == "any":
            problem = "an output has a unit of its own, or one that follows from other ports"
            yield f"outputs.{name}.unit", problem, "write as u, or key unit"
    for name, parameter in declaration.parameters.items():
        yield from _unit_mistakes(f"parameters.{name}.unit", parameter.unit, ports, None)
        yield from _parameter_mistakes(f"parameters.{name}", parameter, declaration)
    yield from _state_mistakes(declaration)


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
            if problem := kind_name_problem(name):
                yield f"{key}.{name}", problem, REMEDY_NAME
    for name, parameter in declaration.parameters.items():
        if name in TAKEN:
            yield f"parameters.{name}", "every block of a rig has this key", "take another name"
        for word in (*parameter.choices, *parameter.columns):
            if problem := kind_name_problem(word):
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


def _unit_mistakes(
    key: str, text: str, ports: Mapping[str, Input | Output], name: str | None
) -> Iterator[Found]:
    try:
        rule = unit_rule(text, ports)
    except Refusal as error:
        yield key, error.problem, error.remedy
        return
    for factor in rule.factors:
        try:
            units.parse(factor.name if not factor.is_port else "1")
        except Refusal as error:
            yield key, error.problem, error.remedy
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
            except Refusal:  # is a mistake of that port
                continue


def _need_mistakes(key: str, port: Input, whole: Declaration) -> Iterator[Found]:
    if port.needed_from and port.otherwise is None:
        yield f"{key}.needed_from", "the input has to be wired anyway", "give it `otherwise`"
    for name in port.needed_from:
        if name not in whole.parameters or whole.parameters[name].type != "whole":
            problem = f"{name!r} is no whole parameter of this block"
            yield f"{key}.needed_from", problem, "name one"


def _parameter_mistakes(key: str, parameter: Parameter, whole: Declaration) -> Iterator[Found]:
    kind = parameter.type
    numeric = kind in ("number", "whole", "list")
    if not numeric and (parameter.limits or parameter.relations):
        yield key, f"a {kind} has no limits", "take them out"
    numbers = [name for name, p in whole.parameters.items() if p.type in ("number", "whole")]
    for _, other in parameter.relations:
        if other == HALF_RATE and kind == "number":
            if parameter.unit != "Hz":
                yield f"{key}", f"is in {parameter.unit}, {HALF_RATE} in Hz", "give it the unit Hz"
        elif kind == "list" or other not in numbers or whole.parameters[other] is parameter:
            problem = f"{other!r} is no other number of this block"
            remedy = f"limit a number by a number, by another one's name, or by {HALF_RATE}"
            yield f"{key}", problem, remedy
    for choice, unit in parameter.unit_of.items():
        if choice not in parameter.choices:
            yield f"{key}.unit_of.{choice}", "is no choice", "take it out"
        try:
            units.parse(unit)
        except Refusal as error:
            yield f"{key}.unit_of.{choice}", error.problem, error.remedy
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
            yield f"{key}.length", "is not a list of this block", "write x, or x * y"
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
            limits = dict(parameter.limits)
            if not limits.get(">=", 0) >= 1 or "<=" not in limits:
                problem = f"parameters.{size} has no least of 1 or more, or no most"
                yield f"state.{name}.size", problem, "give it both"
                continue
            size = int(limits["<="])
        words += size or 1
    if words > MOST_STATE_WORDS:
        problem = f"{words} numbers, at most {MOST_STATE_WORDS}"
        yield "state", problem, "keep less"
