"""Is an observer consistent with the data, and its virtual torque with a measured one? Statistics of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.chi_square import mean_bounds, quantile
from rigloop.run_folder.recorded import blocks_with, is_sane, last_count, recorded_signal

Array = NDArray[np.float64]

PORTS = ("nis_low", "nis", "nis_high", "used", "rejected", "repaired")
# ports that count cycles without a position, by observer: a status each, or a count
FAILURES: dict[str, Callable[[Array], float]] = {
    "status": np.count_nonzero,
    "guarded": last_count,
}
LEAST_SAMPLES = 50
MOST_SENSORS = 1e6  # used in one cycle; more is no count
STRETCHES = 160  # of the moving mean of the NIS
BOUND = 0.95
DEVIATE = quantile(BOUND, 1) ** 0.5  # standard deviations of a normal error that hold 95 % of it


@dataclass(frozen=True)
class ObserverFacts:
    """Innovations of one observer, over the cycles with samples.

    Attributes
    ----------
    name : str
        Path of the observer's signals.
    cycles : int
    outside_percent : float
        Share of cycles whose NIS is outside its 95 % bounds; 5 for the right noise.
    nis_mean, nis_low, nis_high : float
        NIS of one sample on average, and where 95 % of such averages lie for the right noise.
    rejected, repaired, failed : int
        Samples beyond the gate, covariances begun again, cycles without a position or with an acceleration held.
    t_s, nis, low, high : ndarray of float64, shape (cycles,)
        NIS of the cycle, and its 95 % bounds.
    mean_t_s, mean, mean_low, mean_high : ndarray of float64, shape (m,)
        NIS of one sample on average of each of `STRETCHES`, and its 95 % bounds.
    """

    name: str
    cycles: int
    outside_percent: float
    nis_mean: float
    nis_low: float
    nis_high: float
    rejected: int
    repaired: int
    failed: int
    t_s: Array
    nis: Array
    low: Array
    high: Array
    mean_t_s: Array
    mean: Array
    mean_low: Array
    mean_high: Array

    @property
    def words(self) -> str:
        """The finding, in a sentence."""
        if self.nis_low <= self.nis_mean <= self.nis_high:
            return "Consistent: innovations are as large as the observer says."
        if self.nis_mean < self.nis_low:
            return (
                f"Conservative: innovations are {np.sqrt(self.nis_mean):.2g} of the observer's prediction; "
                "its noise settings are too large."
            )
        return (
            f"Overconfident: innovations are {np.sqrt(self.nis_mean):.2g} times the observer's prediction; "
            "neither the model nor its noise settings explain them."
        )


@dataclass(frozen=True)
class TorqueFacts:
    """A virtual torque beside a measured one, where the virtual one had settled.

    Attributes
    ----------
    path, measured_path : str
    settled_percent : float
        Share of cycles in which the variance was below twice its median: not at the start, nor after a
        long gap.
    rms_nm, worst_nm : float
        Of the difference.
    measured_rms_nm : float
    nees_mean, nees_low, nees_high : float
        Squared difference over the variance that the observer says, on average; and where 95 % of
        such averages lie for independent errors of that variance.
    outside_percent : float
        Share of cycles in which the measured torque is outside the 95 % band.
    t_s, virtual_nm, measured_nm, std_nm : ndarray of float64, shape (n,)
    """

    path: str
    measured_path: str
    settled_percent: float
    rms_nm: float
    worst_nm: float
    measured_rms_nm: float
    nees_mean: float
    nees_low: float
    nees_high: float
    outside_percent: float
    t_s: Array
    virtual_nm: Array
    measured_nm: Array
    std_nm: Array


def observer_facts(records: Mapping[str, np.ndarray]) -> list[ObserverFacts]:
    """Statistics of every observer in the records of a run.

    Parameters
    ----------
    records : mapping of str to structured ndarray
        Record of each task.
    """
    found = (_facts(record, name) for record, name in blocks_with(records, PORTS))
    return [facts for facts in found if facts]


def torque_facts(
    records: Mapping[str, np.ndarray], virtual: tuple[str, str], measured: tuple[str, str]
) -> TorqueFacts | None:
    """Compare a virtual torque with a measured one; none if the records do not have both.

    Parameters
    ----------
    virtual, measured : tuple of str
        Task and signal.
    """
    seen, truth = (recorded_signal(records, *where) for where in (virtual, measured))
    record = records.get(virtual[0])
    if seen is None or truth is None or record is None:
        return None
    variance = next(
        (
            np.asarray(record[column])
            for _, name in blocks_with({virtual[0]: record}, PORTS)
            if virtual[1].startswith(f"{name}/")
            and (column := f"{name}/variance/{virtual[1][len(name) + 1 :]}")
            in (record.dtype.names or ())
        ),
        None,
    )
    if variance is None or len(variance) < LEAST_SAMPLES:
        return None
    t, value = seen
    # a cycle without a new torque, or a drive without a sensor, has none to compare with
    measured_s, measured_nm = (part[is_sane(truth[1])] for part in truth)
    sane = is_sane(value, variance) & (variance > 0.0)
    if len(measured_nm) < LEAST_SAMPLES or sane.sum() < LEAST_SAMPLES:
        return None
    settled = sane & (variance <= 2.0 * np.median(variance[sane]))
    t, value, variance = t[settled], value[settled], variance[settled]
    right = np.interp(t, measured_s, measured_nm)
    error = value - right
    squared = error**2 / variance
    low, high = mean_bounds(BOUND, 1, len(t))
    return TorqueFacts(
        path=virtual[1],
        measured_path=measured[1],
        settled_percent=100.0 * float(np.mean(settled)),
        rms_nm=float(np.sqrt(np.mean(error**2))),
        worst_nm=float(np.max(np.abs(error))),
        measured_rms_nm=float(np.sqrt(np.mean(right**2))),
        nees_mean=float(np.mean(squared)),
        nees_low=low,
        nees_high=high,
        outside_percent=100.0 * float(np.mean(squared > DEVIATE**2)),
        t_s=t,
        virtual_nm=value,
        measured_nm=right,
        std_nm=np.sqrt(variance),
    )


def _facts(record: np.ndarray, name: str) -> ObserverFacts | None:
    used = np.asarray(record[f"{name}/used"])
    has = (used > 0) & (used <= MOST_SENSORS)
    has &= is_sane(
        *(np.asarray(record[f"{name}/{port}"]) for port in ("nis_low", "nis", "nis_high"))
    )
    if has.sum() < LEAST_SAMPLES:
        return None
    t = np.asarray(record["t_ns"])[has] * 1e-9
    nis, low, high, used = (
        np.asarray(record[f"{name}/{port}"])[has] for port in ("nis", "nis_low", "nis_high", "used")
    )
    total = int(used.sum())
    mean_low, mean_high = mean_bounds(BOUND, 1, total)
    parts = np.array_split(np.arange(len(t)), min(STRETCHES, len(t) // LEAST_SAMPLES))
    samples = [int(used[part].sum()) for part in parts]
    bounds = {n: mean_bounds(BOUND, 1, n) for n in set(samples)}
    return ObserverFacts(
        name=name,
        cycles=len(t),
        outside_percent=100.0 * float(np.mean((nis < low) | (nis > high))),
        nis_mean=float(nis.sum() / total),
        nis_low=mean_low,
        nis_high=mean_high,
        rejected=last_count(record[f"{name}/rejected"]),
        repaired=last_count(record[f"{name}/repaired"]),
        failed=sum(
            int(count(record[f"{name}/{port}"]))
            for port, count in FAILURES.items()
            if f"{name}/{port}" in (record.dtype.names or ())
        ),
        t_s=t,
        nis=nis,
        low=low,
        high=high,
        mean_t_s=np.array([t[part].mean() for part in parts]),
        mean=np.array([nis[part].sum() / n for part, n in zip(parts, samples, strict=True)]),
        mean_low=np.array([bounds[n][0] for n in samples]),
        mean_high=np.array([bounds[n][1] for n in samples]),
    )
