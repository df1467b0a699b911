"""The common part of a page, a viewer and a terminal: a source that comes and goes."""

from __future__ import annotations

import time
from collections.abc import Callable

from rigloop.monitor.sources.source import Source

AGAIN_S = 1.0  # until a source that is gone is looked for again


class Onlooker:
    """A source that comes and goes; not used by itself.

    Parameters
    ----------
    open_source : callable
        It returns the source, or raises `SourceGoneError`.
    """

    def __init__(self, open_source: Callable[[], Source]) -> None:
        self._open = open_source
        self._source: Source | None = None
        self._again_at = 0.0

    def close(self) -> None:
        """Leave the source; whatever runs goes on. Harmless when repeated."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def _opened(self) -> Source | None:
        """Open the source; None: it was looked for a moment ago."""
        if time.monotonic() < self._again_at:
            return None
        self._look_later()
        self._source = self._open()
        return self._source

    def _look_later(self) -> None:
        self._again_at = time.monotonic() + AGAIN_S
