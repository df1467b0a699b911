"""The tones of a check of the host."""

from __future__ import annotations

from rigloop.display.tables import Tone
from rt_core.doctor.check import Level

TONES = {Level.RED: Tone.BAD, Level.AMBER: Tone.WARN, Level.GREEN: Tone.GOOD}
