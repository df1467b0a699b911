"""Producers of signals, and what they mirror of each other: all that a reader of a table has to know of a rig."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mirror:
    """A cell of another producer's image that a task keeps a copy of."""

    producer: str
    path: str


@dataclass(frozen=True)
class Producer:
    """A row of cells with one writer: its own signals first, then its mirrors, grouped by
    source."""

    name: str
    period_ns: int
    signals: tuple[str, ...]
    mirrors: tuple[Mirror, ...] = ()
    histograms: tuple[str, ...] = ()
    ring_slots: int = 0

    @property
    def paths(self) -> tuple[str, ...]:
        """Path of every cell of the image, in order."""
        return self.signals + tuple(mirror.path for mirror in self.mirrors)
