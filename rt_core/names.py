"""The spelling of names that reach the table of signals, and the first words that blocks may not write."""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
LOOP, SUPERVISOR = OF_THE_LOOP = ("loop", "supervisor")
