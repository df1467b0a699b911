"""A rig file that somebody has checked, read again without what is behind its schema."""

from __future__ import annotations

from pathlib import Path

from rig_configs.load import LoadedRig
from rig_configs.load import read_checked as read_as
from rigloop.blocks.catalogue import rig_model_of
from rigloop.blocks.live_tables import expand


def read_checked(path: Path) -> LoadedRig:
    """Read a rig file that has been found good: its schema alone, and the blocks of its live values."""
    return read_as(path, rig_model_of, expand)
