"""The cost of a step of each filter, beside the same encoder filter written by hand in C.

    python benchmarks/filters.py [--rounds 400] [--json]

The C filter does the same work (unwrapping, gates, motion, aged samples, offset, every output) with
fixed gains, compiled with the flags of the project. Each round runs both over the same counts, in
turn; the ratio is of the fastest rounds. Samples on time let the covariance rest; late ones, of
another age or after skipped cycles, are each a step of it. The others are given without a rival, but
for the published time of the two-stage observer.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from estimators.encoder.filter import EncoderFilter
from rigloop.bench.two_stage.two_stage import CASES, PUBLISHED_S, simulate, single_stage, two_stage

CYCLES = 5_000  # short rounds: few of them are interrupted
SETTLED = 2_000  # from the wide start to gains at rest
FLAGS = ("-O3", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC")
C_FILTER = r"""
#include <math.h>
#include <stdint.h>
typedef struct { double angle, rate, acc, jerk; } Motion;
typedef struct {
  double rad_per_count, span, zero, period, sample_period, gain[4], nis_per_rad2, gate, gate_nis;
  double max_acc, lost_after, bleed, decay; int64_t jump_samples, settle;
  Motion estimate; double estimate_age, offset, offset_rate, raw, unwrapped, age, since;
  double rejected_rad, nis; int64_t agreeing, accepted, missed, rejected, jumps; int tracking;
} Filter;

static double shortest(double d, double span) {
  return span == 0.0 ? d : d - span * floor(d / span + 0.5);
}

static Motion moved(const Motion *x, double dt) {
  double half = 0.5 * dt * dt;
  Motion m = {
    (x->angle + dt * x->rate) + (half * x->acc + half * dt * (1.0 / 3.0) * x->jerk),
    (x->rate + dt * x->acc) + half * x->jerk, x->acc + dt * x->jerk, x->jerk };
  return m;
}

static void accept(Filter *f, double count, double unwrapped, double age) {
  f->raw = count; f->unwrapped = unwrapped; f->estimate_age = age; f->age = 0.0;
  f->agreeing = f->missed = 0; f->accepted++;
}

static void rest(Filter *f) {
  f->estimate.rate = f->estimate.acc = f->estimate.jerk = f->offset = f->offset_rate = 0.0;
  f->accepted = 0;
}

// called, as a loop of blocks would call it
__attribute__((noinline))
static void cycle(Filter *f, double count, double valid, double elapsed, double sample_age,
                  double *out) {
  double dt = f->period, innovation = 0.0, age = 0.0;
  int has = valid == 1.0 && fabs(count) <= 9007199254740992.0;
  Motion now;
  if (elapsed > 1.0 && isfinite(elapsed)) dt = elapsed * f->period;
  if (sample_age > 0.0 && isfinite(sample_age)) age = sample_age;
  f->age += dt; f->since += dt; f->estimate_age += dt; f->missed++; f->nis = 0.0;
  if (f->tracking && f->age > f->lost_after) {
    f->tracking = 0;
    f->estimate.angle = moved(&f->estimate, f->estimate_age - dt).angle + f->offset;
    rest(f);
  }
  if (f->tracking) {
    now = moved(&f->estimate, f->estimate_age);
    if (f->offset != 0.0) {
      double w = f->bleed, e = dt == f->period ? f->decay : exp(-w * dt);
      double k = f->offset_rate + w * f->offset;
      f->offset = e * (f->offset + k * dt); f->offset_rate = e * (f->offset_rate - w * k * dt);
    }
    has = has && age < f->estimate_age;
    if (has) {
      double u = f->unwrapped + shortest(count - f->raw, f->span), gate = f->gate;
      double late = f->since - f->sample_period;
      int settling = f->accepted <= f->settle, inside, taken = 1;
      Motion then = age > 0.0 ? moved(&f->estimate, f->estimate_age - age) : now;
      innovation = f->rad_per_count * (u - f->zero) - then.angle;
      if (late > 0.0) gate += 0.5 * f->max_acc * late * late;
      f->nis = innovation * innovation * f->nis_per_rad2;
      inside = fabs(innovation) <= gate && (f->gate_nis == 0.0 || f->nis <= f->gate_nis);
      if ((!inside || fabs(innovation) > f->gate) && (settling || inside)) f->accepted = 0;
      if (settling || inside) {
        then.angle += f->gain[0] * innovation; then.rate += f->gain[1] * innovation;
        then.acc += f->gain[2] * innovation; then.jerk += f->gain[3] * innovation;
      } else {
        f->rejected++;
        if (fabs(innovation - f->rejected_rad) > gate) f->agreeing = 0;
        f->agreeing++; f->rejected_rad = innovation;
        taken = f->agreeing >= f->jump_samples;
        if (taken) { then.angle += innovation; f->offset -= innovation; f->jumps++; }
      }
      if (taken) {
        accept(f, count, u, age);
        f->estimate = then;
        now = age > 0.0 ? moved(&then, age) : then;
      }
    }
  } else {
    if (has) {
      double u = f->zero + shortest(count - f->zero, f->span);
      rest(f);
      f->estimate.angle = f->rad_per_count * (u - f->zero); f->tracking = 1;
      accept(f, count, u, age);
    }
    now = f->estimate;
  }
  if (has) f->since = age;
  out[0] = now.angle + f->offset; out[1] = now.rate + f->offset_rate;
  out[2] = now.acc - f->bleed * (2.0 * f->offset_rate + f->bleed * f->offset);
  out[3] = innovation; out[4] = f->unwrapped; out[5] = f->offset;
  out[6] = (double)f->missed; out[7] = (double)f->rejected; out[8] = (double)f->jumps;
  out[9] = f->tracking && f->accepted > f->settle ? 1.0 : 0.0;
  out[10] = out[9] == 1.0 && f->missed == 0 ? 1.0 : 0.0;
  out[11] = now.jerk; out[12] = f->nis; out[13] = 0.0;
}

void run(const double *set, const double *count, const double *valid, const double *elapsed,
         const double *age, int64_t n, double *out) {
  Filter f = {0};
  f.rad_per_count = set[0]; f.span = set[1]; f.zero = 0.0; f.period = f.sample_period = set[2];
  f.gain[0] = set[3]; f.gain[1] = set[4]; f.gain[2] = set[5]; f.gate = set[6];
  f.max_acc = set[7]; f.lost_after = set[8]; f.bleed = set[9]; f.decay = exp(-f.bleed * f.period);
  f.jump_samples = 5; f.settle = 400; f.nis_per_rad2 = 1.0;
  for (int64_t i = 0; i < n; i++)
    cycle(&f, count[i], valid[i], elapsed[i], age[i], out + 14 * i);
}
"""


def main(
    rounds: int = 400,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    found = encoder(rounds) | observers(rounds)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:44s} {value:9.3f}")


def encoder(rounds: int) -> dict[str, float]:
    """Fastest ns per step of ours and of C's, and their ratio."""
    cpr, period_s = 2**20, 100e-6
    t = period_s * np.arange(CYCLES)
    count = np.mod(np.rint(0.8 * np.sin(8 * np.pi * t) * cpr / (2 * np.pi)), 2.0**32)
    one, age = np.ones(CYCLES), np.zeros(CYCLES)
    ours = make(cpr, period_s)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "filter.c", Path(folder) / "filter.so"
        source.write_text(C_FILTER)
        subprocess.run(["gcc", *FLAGS, str(source), "-o", str(library), "-lm"], check=True)
        run = ctypes.CDLL(str(library)).run
    settings = np.array(
        [2 * np.pi / cpr, 2.0**32, period_s, *ours.gain, ours.gate_rad, 1000.0, 0.02, 2.0]
    )
    arrays = [a.ctypes.data_as(ctypes.c_void_p) for a in (settings, count, one, one, age)]

    def by_hand() -> np.ndarray:
        # its results are new each time, as ours are
        out = np.empty((CYCLES, 14))
        run(*arrays, ctypes.c_int64(CYCLES), out.ctypes.data_as(ctypes.c_void_p))
        return out

    result = ours.run(count, one, one, age)
    out = by_hand()
    # the same filter once the covariance rests: up to the order of summation
    if not np.allclose(result[SETTLED:, :3], out[SETTLED:, :3], rtol=1e-6, atol=1e-6):
        raise SystemExit("the C filter computes something else")
    aged = np.random.default_rng(1).uniform(0.0, 0.9 * period_s, CYCLES)
    elapsed = np.tile([1.0, 2.0, 1.0, 7.0], CYCLES // 4)
    late = np.mod(
        np.rint(0.8 * np.sin(8 * np.pi * period_s * np.cumsum(elapsed)) * cpr / (2 * np.pi)),
        2.0**32,
    )
    varying, skipping = make(cpr, period_s), make(cpr, period_s)
    steps = {
        "ours": lambda: ours.run(count, one, one, age),
        "C by hand": by_hand,
        "aged": lambda: varying.run(count, one, one, aged),
        "skipping": lambda: skipping.run(late, one, elapsed, age),
    }
    best = fastest(steps, rounds, CYCLES)
    return {
        "encoder filter, samples on time (ns)": best["ours"],
        "fixed gains in C by hand (ns)": best["C by hand"],
        "ratio": best["ours"] / best["C by hand"],
        "encoder filter, each sample of another age (ns)": best["aged"],
        "encoder filter, skipped cycles (ns)": best["skipping"],
    }


def make(cpr: int, period_s: float) -> EncoderFilter:
    return EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=cpr, period_s=period_s,
        bandwidth_rad_s=310.4, counter_span=2.0**32,
    )  # fmt: skip


def observers(rounds: int) -> dict[str, float]:
    """Fastest ns per step of the observers of the slider-crank."""
    case = CASES["smooth"]
    motion = simulate(case, 0)
    steps = {
        "two-stage": lambda: two_stage(motion, case.two_stage_walk_n),
        "single": lambda: single_stage(motion, case.tuned_walk_n),
    }
    best = fastest(steps, max(20, rounds // 5), len(motion.t_s))
    published_ns = 1e9 * PUBLISHED_S / len(motion.t_s)
    return {
        "two-stage observer, slider-crank (ns)": best["two-stage"],
        "published, MATLAB on an i7-2700K (ns)": published_ns,
        "published / ours": published_ns / best["two-stage"],
        "augmented EKF, slider-crank (ns)": best["single"],
    }


def fastest(steps: dict[str, Callable[[], object]], rounds: int, cycles: int) -> dict[str, float]:
    """Fastest round of each, ns a cycle; the rounds of all are interleaved."""
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            begin = time.perf_counter_ns()
            step()
            best[name] = min(best[name], (time.perf_counter_ns() - begin) / cycles)
    return best


if __name__ == "__main__":
    typer.run(main)
