"""The tools of the proofs, the line that installs each, and the answer that all of them give."""

from __future__ import annotations

import importlib.util
import shutil
from typing import NamedTuple

INSTALL = {
    "bitwuzla": "pip install bitwuzla pycparser",
    "spin": "apt-get install spin gcc",
    "frama-c": "apt-get install --no-install-recommends frama-c-base gcc",
}


class Answer(NamedTuple):
    """The answer to a property: proved, false (with values that show it) or open (out of time)."""

    name: str
    tool: str
    outcome: str
    seconds: float
    said: str = ""


def is_there(tool: str) -> bool:
    """Return whether a tool can be used here."""
    if tool == "bitwuzla":
        return all(importlib.util.find_spec(name) for name in ("bitwuzla", "pycparser"))
    return bool(shutil.which(tool) and shutil.which("gcc"))


def missing(tool: str) -> str:
    """Return the words for a tool that is not there."""
    return f"{tool} is missing: {INSTALL[tool]}"
