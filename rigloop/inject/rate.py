"""The error of the encoder filter's rate during a fault, from the counts of the record."""

from __future__ import annotations

import math

import numpy as np

from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.compose.blocks import paths
from rigloop.inject.evidence import Evidence
from rigloop.inject.limits import Limits


def rate_held(began: int, within: float, seen: Evidence, lim: Limits, why: list[str]) -> None:
    """Add by how much the filter's rate has left what the encoder's counts say from a row on."""
    encoder = lim.rig.blocks.get(lim.axis.encoder or "")
    if not isinstance(encoder, EncoderFilterBlock) or began >= len(seen.fast):
        return
    reads, writes = paths(str(lim.axis.encoder), encoder)
    rows = seen.fast[max(0, began - 1) :]
    if "valid" in reads:
        rows = rows[rows[reads["valid"]] == 1.0]
    if len(rows) < 2:
        why.append("there was no sample left to check the rate")
        return
    counts = np.diff(rows[reads["position_count"]])
    if encoder.counter_span:
        counts -= encoder.counter_span * np.floor(counts / encoder.counter_span + 0.5)
    passed_s = 1e-9 * np.diff(rows["t_ns"])
    a_count = 2 * np.pi / encoder.counts_per_rev
    mean_rad_s = encoder.sign * a_count * counts / passed_s
    # a difference of counts is rounded twice
    off = np.abs(rows[writes["rate_rad_s"]][1:] - mean_rad_s) - 2 * a_count / passed_s
    worst = float(np.max(off)) if np.isfinite(off).all() else math.inf
    if not worst <= within:
        why.append(f"the rate was {worst:.3g} rad/s off the encoder's, stated {within:g}")
