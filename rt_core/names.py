"""The spelling of names that reach the table of signals, and the first words that blocks may not write."""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
LOOP, SUPERVISOR, LIVE = OF_THE_LOOP = ("loop", "supervisor", "live")
BESIDE = (SUPERVISOR, LIVE)
"""Producers that are no tasks: who starts and stops the loop, and who changes its live values."""
