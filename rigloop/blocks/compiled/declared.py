"""A block as its two files say: the declaration and the source beside it, read together.

Reading one compiles, imports and loads nothing: the source is taken as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from codegen.kernels.toolchain import digest
from rig_configs.bounded import UnreadableError, parse_toml, read_bytes
from rig_configs.mistakes import ConfigError, Mistake, from_validation
from rig_configs.named_files import source_beside, sources_beside
from rigloop.blocks.compiled.declaration import Declaration, Input, Output
from rigloop.blocks.compiled.declaration_mistakes import (
    REMEDY_NAME,
    declaration_mistakes,
    kind_name_problem,
)
from rigloop.blocks.compiled.unit_rule import UnitRule, unit_rule

MOST_BYTES = 1 << 18  # of a declaration, and of a source


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
        Of declaration and source, as they were read together.
    language : {"c", "pyx"}
        Of the source; its file has this suffix.
    """

    name: str
    path: Path
    declaration: Declaration
    text: bytes
    source: bytes
    language: Literal["c", "pyx"] = "c"

    @property
    def source_path(self) -> Path:
        """The source lies beside the declaration."""
        return self.path.with_suffix(f".{self.language}")

    @cached_property
    def hash(self) -> str:
        """Over name, declaration and source: what is trusted, and what is compiled."""
        kind = b"rigloop block" if self.language == "c" else b"rigloop block in Cython"
        return digest([kind, self.name.encode(), self.text, self.source])

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
    except FileNotFoundError as error:
        remedy = "the path starts at the folder of the rig"
        raise ConfigError([Mistake(file, "(file)", str(error.strerror), remedy)]) from None
    except OSError as error:
        raise _unusable(file, error.strerror or str(error)) from None
    mistakes = []
    name = path.stem
    if problem := kind_name_problem(name):
        mistakes.append(Mistake(file, "(file)", f"its name {problem}", REMEDY_NAME, name))
    at = source_beside(path)
    source = b""
    try:
        source = read_bytes(at, MOST_BYTES)
        source.decode("utf-8")
    except UnreadableError as error:
        mistakes.append(Mistake(file, "(file)", f"its source {at.name} {error}", "is it a text?"))
    except OSError as error:
        problem = f"its source {at.name}: {error.strerror}"
        remedy = "put the source (.c, or .pyx for Cython) beside the declaration"
        mistakes.append(Mistake(file, "(file)", problem, remedy))
    except UnicodeDecodeError:
        problem = f"its source {at.name} is not a UTF-8 text"
        mistakes.append(Mistake(file, "(file)", problem, "save it as UTF-8"))
    if len(sources_beside(path)) > 1:
        problem = f"two sources lie beside it, {name}.c and {name}.pyx"
        mistakes.append(Mistake(file, "(file)", problem, "keep the one that the block is made of"))
    try:
        declaration = Declaration.model_validate(data)
    except ValidationError as error:
        raise ConfigError([*mistakes, *from_validation(file, error, Declaration, data)]) from None
    mistakes += [Mistake(file, *found) for found in declaration_mistakes(declaration)]
    if mistakes:
        raise ConfigError(mistakes)
    language: Literal["c", "pyx"] = "pyx" if at.suffix == ".pyx" else "c"
    return Declared(name, path, declaration, text, source, language)


def _unusable(file: str, problem: str) -> ConfigError:
    return ConfigError([Mistake(file, "(file)", problem, "is it the declaration of a block?")])
