"""The count of what is written."""

from __future__ import annotations

from collections.abc import Callable

Advance = Callable[[int], object]
"""Takes how many more rows are written."""
