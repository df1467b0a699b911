"""Mistakes in configuration files: all of a file at once, each with file, key, value and remedy."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from rt_core.settings import Wrong, problem_of

_NOTHING = object()
UNKNOWN_KIND = "unknown kind"
MOST_SHOWN = 40  # as many as there are kinds of blocks, and more


@dataclass(frozen=True)
class Mistake:
    """One mistake: `file: key = value: problem; remedy`."""

    file: str
    key: str
    problem: str
    remedy: str = ""
    value: Any = _NOTHING

    def __str__(self) -> str:
        where = self.key if self.value is _NOTHING else f"{self.key} = {_short(self.value)}"
        tail = f"; {self.remedy}" if self.remedy else ""
        return f"{self.file}: {where}: {self.problem}{tail}"


def in_file(file: str, table: str, wrong: Iterable[Wrong]) -> list[Mistake]:
    """Say of which table of a file the refused values are."""
    return [Mistake(file, f"{table}.{w.key}", w.problem, w.remedy, w.value) for w in wrong]


class ConfigError(ValueError):
    """A configuration with mistakes; nothing has been started.

    Attributes
    ----------
    mistakes : tuple of Mistake
        All that were found, in the order of the file where possible.
    """

    def __init__(self, mistakes: Iterable[Mistake]):
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


def near(name: str, known: Iterable[str]) -> str:
    """Return a remedy: the known words nearest to `name`, or all of them if none is near."""
    words = sorted(known)
    close = difflib.get_close_matches(name, words, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(word) for word in close) + "?"
    if not words:
        return "none is known here"
    shown = ", ".join(words[:MOST_SHOWN]) + (", …" if len(words) > MOST_SHOWN else "")
    return f"known: {shown}"


def from_validation(
    file: str, error: ValidationError, model: type[BaseModel], data: Any
) -> list[Mistake]:
    """Turn pydantic's errors on `data` into mistakes that name the keys of the file."""
    # the name of a key and its value are two things that may be wrong
    found: dict[tuple[str, bool], list[tuple[bool, Mistake]]] = {}
    for detail in error.errors(include_url=False):
        mistake = _mistake(file, detail, model, data)
        is_of_type = detail["type"].endswith("_type") or detail["type"] == "literal_error"
        of_name = detail["loc"][-1:] == ("[key]",)
        found.setdefault((mistake.key, of_name), []).append((is_of_type, mistake))
    return [_one_of(alike) for alike in found.values()]


def _one_of(alike: Sequence[tuple[bool, Mistake]]) -> Mistake:
    """Return one mistake of a value that may have several types: of the type that it has, else of all of them."""
    nearest = [mistake for is_of_type, mistake in alike if not is_of_type] or [m for _, m in alike]
    words = dict.fromkeys(mistake.problem for mistake in nearest)
    first, *others = words
    problem = " or ".join([first, *(word.removeprefix("input should be ") for word in others)])
    return replace(nearest[0], problem=problem)


def _mistake(file: str, detail: Any, model: type[BaseModel], data: Any) -> Mistake:
    path = _key_path(data, detail["loc"])
    key = ".".join(str(step) for step in path) or "(file)"
    kind, value = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return Mistake(
            file, key, "unknown key", near(str(path[-1]), _fields_at(model, data, path[:-1])), value
        )
    if kind == "missing":
        return Mistake(file, key, "missing", "add this key")
    if kind == "union_tag_invalid":
        known = [tag.strip().strip("'") for tag in detail["ctx"]["expected_tags"].split(",")]
        given = value["kind"]
        return Mistake(file, f"{key}.kind", UNKNOWN_KIND, near(str(given), known), given)
    if kind == "union_tag_not_found":
        return Mistake(file, f"{key}.kind", "missing", "say which kind of block this is")
    return Mistake(file, key, *problem_of(detail), value)


def _key_path(data: Any, loc: Sequence[Any]) -> list[Any]:
    """Drop the steps that are no key of the file: pydantic adds the tag of a union's branch, and `[key]`."""
    path: list[Any] = []
    for position, step in enumerate(loc):
        # the tag stands before the keys, and may be spelled as one of them (`mechanism`)
        if position < len(loc) - 1 and isinstance(data, dict) and data.get("kind") == step:
            continue
        is_key = (isinstance(data, dict) and step in data) or (
            isinstance(data, list) and isinstance(step, int)
        )
        if is_key:
            data = data[step]
        is_missing = isinstance(data, dict) and position == len(loc) - 1 and step != "[key]"
        if is_key or is_missing:
            path.append(step)
    return path


def _fields_at(model: type[BaseModel], data: Any, path: Sequence[Any]) -> Iterable[str]:
    """Return the key names that the model allows at `path`."""
    annotation: Any = model
    for step in path:
        data = data[step]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            annotation = annotation.model_fields[step].annotation
        else:
            annotation = typing.get_args(annotation)[-1]
        annotation = _branch(annotation, data)
    return (
        annotation.model_fields
        if isinstance(annotation, type) and issubclass(annotation, BaseModel)
        else ()
    )


def _branch(annotation: Any, data: Any) -> Any:
    """Return the member of a union that `data` belongs to: by its `kind`, else the first model."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return annotation
    kind = data.get("kind") if isinstance(data, dict) else None
    models = [
        m for m in typing.get_args(annotation) if isinstance(m, type) and issubclass(m, BaseModel)
    ]
    chosen = [
        m
        for m in models
        if "kind" in m.model_fields
        and typing.get_args(m.model_fields["kind"].annotation) == (kind,)
    ]
    return (chosen or models or [annotation])[0]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
