"""Is the encoder filter consistent with the data? Innovation statistics of a run or a replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rigloop.run_folder.recorded import blocks_with, is_sane, last_count

Array = NDArray[np.float64]

LEAST_SAMPLES = 50
# of a normalised innovation squared, chi-square with one degree of freedom
TAIL_95 = 3.841
NORMAL_95 = 1.960


@dataclass(frozen=True)
class FilterFacts:
    """Innovations of one encoder filter, over the samples that it took once it had settled.

    Attributes
    ----------
    name : str
        Path of the filter's signals.
    samples : int
    nis_mean, nis_low, nis_high : float
        Mean normalised innovation squared, and where 95 % of such means lie for the right noise.
    beyond_percent : float
        Share above the 95 % bound of one sample; 5 for the right noise.
    correlation : float
        Of neighbouring innovations; 0 for the right filter.
    innovation_rms_rad : float
    motion_rms_rad : float
        Of the angle about its mean, over the same samples.
    rejected, jumps : int
    t_s, innovation_rad : ndarray of float64, shape (samples,)
    """

    name: str
    samples: int
    nis_mean: float
    nis_low: float
    nis_high: float
    beyond_percent: float
    correlation: float
    innovation_rms_rad: float
    motion_rms_rad: float
    rejected: int
    jumps: int
    t_s: Array
    innovation_rad: Array

    @property
    def words(self) -> str:
        """The finding, in a sentence."""
        times = np.sqrt(self.nis_mean)
        if self.nis_low <= self.nis_mean <= self.nis_high and abs(self.correlation) < 0.1:
            return "Consistent: the innovations are as large as the filter says, and white."
        size = (
            f"The innovations are {times:.2g} times as large as the noise of the samples explains"
            if self.nis_mean > self.nis_high
            else f"The innovations are {times:.2g} of what the noise of the samples explains"
            if self.nis_mean < self.nis_low
            else "The innovations are as large as they should be"
        )
        colour = (
            "neighbours go together: the motion is faster than the filter"
            if self.correlation >= 0.1
            else "neighbours alternate: the filter is faster than the motion"
            if self.correlation <= -0.1
            else "neighbours do not go together"
        )
        return f"{size}; {colour}."


def filter_facts(records: Mapping[str, np.ndarray]) -> list[FilterFacts]:
    """Statistics of every encoder filter in the records of a run.

    Parameters
    ----------
    records : mapping of str to structured ndarray
        Record of each task.
    """
    ports = ("nis", "innovation_rad", "trusted", "rejected", "angle_rad")
    found = (_facts(record, name) for record, name in blocks_with(records, ports))
    return [facts for facts in found if facts]


def _facts(record: np.ndarray, name: str) -> FilterFacts | None:
    taken = np.asarray(record[f"{name}/trusted"]) == 1.0
    nis, innovation = (np.asarray(record[f"{name}/{port}"]) for port in ("nis", "innovation_rad"))
    taken &= is_sane(nis, innovation)
    if taken.sum() < LEAST_SAMPLES:
        return None
    nis, innovation = nis[taken], innovation[taken]
    n = len(nis)
    half = NORMAL_95 * np.sqrt(2.0 / n)  # of a mean of n chi-squares
    power = float(np.mean(innovation**2))
    together = float(np.mean(innovation[1:] * innovation[:-1]))
    jumps = f"{name}/jumps"
    return FilterFacts(
        name=name,
        samples=n,
        nis_mean=float(np.mean(nis)),
        nis_low=1.0 - half,
        nis_high=1.0 + half,
        beyond_percent=100.0 * float(np.mean(nis > TAIL_95)),
        correlation=together / power if power else 0.0,
        innovation_rms_rad=float(np.sqrt(power)),
        motion_rms_rad=float(np.std(record[f"{name}/angle_rad"][taken])),
        rejected=last_count(record[f"{name}/rejected"]),
        jumps=last_count(record[jumps]) if jumps in (record.dtype.names or ()) else 0,
        t_s=np.asarray(record["t_ns"])[taken] * 1e-9,
        innovation_rad=innovation,
    )
