"""A mechanism written in Python: the same tables as in a TOML file, checked by the same reader.

    m = MechanismBuilder("pendulum", gravity_m_s2=(0, -9.81, 0), drawing="pivot o---o P")
    m.point("P", position_m=(1, 0, 0), moves="xy")
    m.constant_distance("rod", points=[(0, 0, 0), "P"])
    m.mass("ball", point="P", mass_kg=2.0)
    m.output("ball/x_m", "P_x")
    mechanism = m.build()                # or m.save("pendulum.toml")

There is one method for each file in `codegen/elements`; its keywords are the keys of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codegen.description.mechanism import Mechanism, parse
from codegen.elements import registry
from rig_configs.mistakes import near
from rig_configs.plain import line, toml_key, toml_string

MOST_COLUMNS = 400  # of a drawing


class MechanismBuilder:
    """Collects tables; nothing is checked before `build`, which reports all mistakes at once.

    Parameters
    ----------
    name : str
        Of the mechanism, and of its file.
    gravity_m_s2 : sequence of float, optional
    drawing : str
        Printed as comment on top of the text.
    """

    def __init__(
        self, name: str, *, gravity_m_s2: Sequence[float] | None = None, drawing: str = ""
    ) -> None:
        self.name = name
        self._drawing = drawing
        self._gravity = gravity_m_s2
        self._parameters: dict[str, Any] = {}
        self._entries: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._outputs: dict[str, str] = {}
        self._cuts: list[str] = []

    def parameter(self, name: str, value: Any) -> MechanismBuilder:
        """A constant: a number, three numbers, or arithmetic over earlier ones."""
        self._parameters[name] = value
        return self

    def cut(self, *elements: str) -> MechanismBuilder:
        """Elements, as `revolute.hinge`, that a tree of the mechanism is to cut."""
        self._cuts += elements
        return self

    def output(self, port: str, source: str) -> MechanismBuilder:
        """A signal, its unit last, and its quantity; see `codegen.description.outputs`."""
        self._outputs[port] = source
        return self

    def __getattr__(self, table: str) -> Callable[..., MechanismBuilder]:
        if table.startswith("_") or table not in registry():
            raise AttributeError(f"no element {table!r}; {near(table, registry())}")

        def add(name: str, **keys: Any) -> MechanismBuilder:
            if (table, name) in self._entries:
                raise ValueError(f"{table}.{name} is there already; take another name")
            self._entries[table, name] = {k: v for k, v in keys.items() if v is not None}
            return self

        add.__name__ = table
        add.__doc__ = registry()[table].__doc__
        return add

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *registry()])

    def text(self) -> str:
        """The mechanism as TOML."""
        lines = [f"# {line(row, MOST_COLUMNS)}".rstrip() for row in self._drawing.splitlines()]
        lines += [""] if lines else []
        lines.append(f"name = {_toml(self.name)}")
        if self._gravity is not None:
            lines.append(f"gravity_m_s2 = {_toml(self._gravity)}")
        if self._cuts:
            lines.append(f"cuts = {_toml(self._cuts)}")
        for head, table in (("parameters", self._parameters), *self._tables()):
            if table:
                lines += [
                    "",
                    f"[{head}]",
                    *(f"{toml_key(k)} = {_toml(v)}" for k, v in table.items()),
                ]
            elif head != "parameters":
                lines += ["", f"[{head}]"]
        if self._outputs:
            lines += ["", "[outputs]"]
            lines += [f"{toml_key(k)} = {_toml(v)}" for k, v in self._outputs.items()]
        return "\n".join(lines) + "\n"

    def _tables(self) -> list[tuple[str, Mapping[str, Any]]]:
        return [
            (f"{table}.{toml_key(name)}", keys) for (table, name), keys in self._entries.items()
        ]

    def build(self) -> Mechanism:
        """The validated, frozen model.

        Raises
        ------
        MechanismError
            With every mistake.
        """
        return parse(self.text(), f"{self.name}.toml")

    def save(self, folder: Path | str) -> Path:
        """Write `<name>.toml` into a folder, for `build_kernel`; returns its path."""
        path = Path(folder) / f"{self.name}.toml"
        path.write_text(self.text())
        return path


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, int):
        return str(value)
    if hasattr(value, "__iter__"):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not finite: give a number")
    return repr(number)
