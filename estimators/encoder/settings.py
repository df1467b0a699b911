"""Settings of an encoder filter; a rig file takes the limits of its keys from here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from estimators.encoder.gains import MODELS, SteadyState, epsilon_problem, steady_state
from rt_core.settings import Refusal, Sign, Wrong, check

MOST_COUNT = 2.0**53  # the whole numbers of a double end there; `max_count` of the cycle


def _whole(count: float) -> float:
    if count != int(count):
        raise ValueError("must be a whole number")
    return count


def _from_the_covariance(gains: str) -> str:
    if gains != "time_varying":
        raise Refusal(
            "fixed gains make an unstable filter as soon as cycles or samples are skipped, which any loop may do",
            "leave the key out: gains follow the covariance over the time between two samples, and cost the same",
        )
    return gains


# so that no number of the filter can leave the range of a double, whatever it reads
CountsPerRev = Annotated[float, Field(ge=1e-6, le=MOST_COUNT)]
CounterSpan = Annotated[float, Field(ge=0.0, le=MOST_COUNT), AfterValidator(_whole)]
Count = Annotated[float, Field(ge=-MOST_COUNT, le=MOST_COUNT)]
Rate = Annotated[float, Field(ge=1e-12, le=1e12)]
Noise = Annotated[float, Field(ge=1e-18, le=1e9)]
Gate = Annotated[float, Field(ge=0.0)]
Time = Annotated[float, Field(ge=1e-9, le=1e6)]
Model = Literal["constant_velocity", "constant_acceleration", "constant_jerk"]
Gains = Annotated[str, AfterValidator(_from_the_covariance)]


@dataclass(frozen=True, kw_only=True)
class EncoderSettings:
    """Scaling, noise, gates and times of a filter; `filter.pyi` says what each one does."""

    counts_per_rev: CountsPerRev
    period_s: Time
    bandwidth_rad_s: Rate
    sample_period_s: Time
    counter_span: CounterSpan = 0.0
    zero_count: Count = 0.0
    sign: Sign = 1
    max_acceleration_rad_s2: Rate = 1000.0
    jump_samples: Annotated[int, Field(ge=1, lt=2**63)] = 5
    bleed_rad_s: Annotated[float, Field(ge=0.0, le=1e6)] = 2.0
    lost_after_s: Time
    model: Model = "constant_acceleration"
    gains: Gains = "time_varying"
    noise_rad: Noise
    gate_nis: Gate = 0.0

    def __post_init__(self) -> None:
        check("encoder filter", self, self._mistakes())

    def steady(self) -> SteadyState:
        """Return the steady state of the filter, for samples that are on time."""
        return steady_state(self.sample_period_s, self.bandwidth_rad_s, MODELS[self.model])

    def _mistakes(self) -> Iterator[Wrong]:
        if self.sample_period_s < self.period_s:
            problem = f"must not be shorter than period_s = {self.period_s:g}"
            yield Wrong("sample_period_s", self.sample_period_s, problem)
        if self.lost_after_s < 2.0 * self.sample_period_s:
            problem = f"must be at least two sample periods of {self.sample_period_s:g} s"
            yield Wrong("lost_after_s", self.lost_after_s, problem)
        unsuited = epsilon_problem(self.sample_period_s, self.bandwidth_rad_s)
        if unsuited:
            yield Wrong("bandwidth_rad_s", self.bandwidth_rad_s, *unsuited)
