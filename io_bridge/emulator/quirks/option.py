"""An option of a quirk: its default, its values, its meaning."""

from __future__ import annotations

from typing import NamedTuple

Value = int | float | bool | str

TRUE, FALSE = ("true", "yes", "on"), ("false", "no", "off")


class Option(NamedTuple):
    """One option.

    Attributes
    ----------
    default : int, float, bool or str
        Its type is that of the option.
    words : str
    low, high : float
        Limits of a number.
    choices : tuple of str
        Of a text.
    """

    default: Value
    words: str
    low: float = 0
    high: float = 0xFFFFFFFF
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Value:
        """Return the value that a text of the command line means; the text, where it means none."""
        if isinstance(self.default, bool):
            lower = text.lower()
            return lower in TRUE if lower in (*TRUE, *FALSE) else text
        try:
            if isinstance(self.default, int):
                return int(text, 0)
            if isinstance(self.default, float):
                return float(text)
        except ValueError:
            pass
        return text

    @property
    def shown(self) -> str:
        """The default as one writes it."""
        if isinstance(self.default, bool):
            return "true" if self.default else "false"
        return (
            f"{self.default:#x}"
            if type(self.default) is int and self.default > 9
            else str(self.default)
        )

    def mistake(self, value: object) -> str:
        """Return the problem of a value, or nothing."""
        if isinstance(self.default, bool):
            return "" if isinstance(value, bool) else "true or false"
        if isinstance(self.default, str):
            return "" if value in self.choices else f"one of {', '.join(self.choices)}"
        whole = isinstance(self.default, int)
        right = type(value) is int or (not whole and type(value) is float)
        if right and self.low <= value <= self.high:  # type: ignore[operator]
            return ""
        shown = f"{self.low:#x} to {int(self.high):#x}" if whole else f"{self.low} to {self.high}"
        return f"a {'whole ' if whole else ''}number from {shown}"

    def convert(self, value: Value) -> Value:
        """Return an allowed value with the option's own type."""
        return type(self.default)(value)
