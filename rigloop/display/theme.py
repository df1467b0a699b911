"""Colours of pages and of the pictures in them: those of a light page, and their names in one that may be dark."""

from __future__ import annotations

import re

INK, GRID, EDGE = "#1c2733", "#d9dfe5", "#8a96a3"
BLUE, ORANGE, GREEN, GREY, VIOLET = "#1d5fa6", "#d0641a", "#2d7d50", "#a9b3bd", "#7a6bb0"
PAPER = "#ffffff"
NAMES = {
    INK: "ink", GRID: "line", EDGE: "edge", PAPER: "paper", BLUE: "line-1", ORANGE: "line-2",
    GREEN: "line-3", GREY: "edge", VIOLET: "line-4",
}  # fmt: skip
COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}\b")


def themed(svg: str) -> str:
    """Return a picture that stands in a page with the colours of the page's theme; those of a light one otherwise."""

    def named(found: re.Match[str]) -> str:
        name = NAMES.get(found[0])
        return f"var(--{name}, {found[0]})" if name else found[0]

    return COLOUR.sub(named, svg)
