"""The likely explanations of a number that is far from usual: the words that several kinds of blocks share."""

from __future__ import annotations

from collections.abc import Mapping

Usual = Mapping[str, tuple[float, float, str]]
"""By key: from, to, with room on both sides, and what explains a value beyond; 0 is never doubted."""

MILLI = "milli or kilo of it?"
TURNS = "turns a minute are rad/s x 9.55, degrees rad x 57.3"
MS = "this one is in milliseconds"
S = "this one is in seconds"
