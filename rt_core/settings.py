"""Settings that are refused where they are wrong: the limits of a value stand in its type, and nowhere else.

The schema of a rig file takes the same types, so that a file is refused by the same rule.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, create_model

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)
"""Settings of every model here: no unknown key and no silent conversion. Validators are built at their first use."""


class Refusal(ValueError):
    """A refusal that keeps its problem and its remedy apart, for whoever shows them.

    Attributes
    ----------
    problem, remedy : str
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem}; {remedy}" if remedy else problem)


def _not_zero(value: float) -> float:
    if value == 0.0:
        raise ValueError("must not be 0")
    return value


Sign = Literal[-1, 1]
NonZero = Annotated[float, AfterValidator(_not_zero)]


class Wrong(NamedTuple):
    """A value that is refused: its key, the problem with its limit, and a remedy; `value` as it was given."""

    key: str
    value: Any
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.key} = {self.value!r}: {self.problem}" + (
            f"; {self.remedy}" if self.remedy else ""
        )


class SettingsError(ValueError):
    """Settings with mistakes.

    Attributes
    ----------
    wrong : tuple of Wrong
        All that were found.
    """

    def __init__(self, owner: str, wrong: Iterable[Wrong]) -> None:
        self.wrong = tuple(wrong)
        super().__init__(f"{owner}: " + "; ".join(map(str, self.wrong)))


def check(owner: str, settings: Any, further: Iterable[Wrong] = ()) -> None:
    """Refuse settings whose values are not of their types.

    Parameters
    ----------
    owner : str
        The name of the part, for the message.
    settings : dataclass instance
    further : iterable of Wrong
        Rules between several values; only read where each value alone is good.

    Raises
    ------
    SettingsError
        With every mistake.
    """
    given = {field.name: getattr(settings, field.name) for field in fields(settings)}
    try:
        _model(settings.__class__).model_validate(given)
    except ValidationError as error:
        wrong = wrong_of(error)
    else:
        wrong = list(further)
    if wrong:
        raise SettingsError(owner, wrong)


def wrong_of(error: ValidationError) -> list[Wrong]:
    """Return the mistakes that pydantic found."""
    return [
        Wrong(".".join(map(str, detail["loc"])), detail["input"], *problem_of(detail))
        for detail in error.errors(include_url=False)
    ]


TABLE_TYPES = ("dict_type", "mapping_type", "model_type", "model_attributes_type")
"""Pydantic's errors for a value that is no table; each of them says it in terms of Python."""


def problem_of(detail: Mapping[str, Any]) -> tuple[str, str]:
    """Return the problem and the remedy of one of pydantic's errors."""
    if detail["type"] in ("too_long", "too_short"):
        limits = {"at most": "max_length", "at least": "min_length"}
        (limit,) = (f"{w} {detail['ctx'][k]}" for w, k in limits.items() if k in detail["ctx"])
        return f"has {len(detail['input'])} entries, {limit}", ""
    if detail["type"] == "value_error":
        error = detail["ctx"]["error"]
        return (error.problem, error.remedy) if isinstance(error, Refusal) else (str(error), "")
    if detail["type"] in TABLE_TYPES:
        return "input should be a table", ""
    return detail["msg"][0].lower() + detail["msg"][1:], ""


@cache
def _model(settings: type) -> type[BaseModel]:
    hints = typing.get_type_hints(settings, include_extras=True)
    parts: dict[str, Any] = {field.name: (hints[field.name], ...) for field in fields(settings)}
    config = ConfigDict(**STRICT, arbitrary_types_allowed=True)
    return create_model(settings.__name__, __config__=config, **parts)
