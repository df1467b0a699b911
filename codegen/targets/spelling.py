"""Generated lines in the arithmetic that is wanted: type, literals and functions of C."""

from __future__ import annotations

import re

LITERAL = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)(?![\w.])")
LEAST = 1.1754943508222875e-38  # of single precision, with all digits
CALL = re.compile(r"\b(fabs|sqrt|exp|tanh)\(")


def spelled(text: str, precision: str) -> str:
    """Code over `double` and compiler builtins as C99 over `real`."""
    text = text.replace("__builtin_", "")
    text = re.sub(r"\bdouble (?=[\w*])", "real ", text)
    if precision == "float64":
        return text
    lines = []
    for line in text.split("\n"):
        if not line.lstrip().startswith("//"):
            line = CALL.sub(r"\1f(", LITERAL.sub(_single, line))
        lines.append(line)
    return "\n".join(lines)


def _single(literal: re.Match[str]) -> str:
    """In single precision, where the smallest numbers are none."""
    return f"{literal[1]}f" if abs(float(literal[1])) >= LEAST else "0.0f"
