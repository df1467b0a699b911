"""What a step of each filter costs, beside the same encoder filter written by hand in C.

    python benchmarks/filters.py [--rounds 400] [--json]

The C filter does the same work (unwrapping, gate, motion, offset, every output) for one model and
one set of gains, compiled with the flags of the project. Each round runs both over the same counts,
in turn; the ratio is of the fastest rounds. The others are given without a rival, but for the
published time of the two-stage observer.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from estimators.encoder_filter import EncoderFilter
from rigloop.bench.two_stage import CASES, PUBLISHED_S, simulate, single_stage, two_stage

CYCLES = 5_000  # short rounds: few of them are interrupted
FLAGS = ("-O3", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC")
C_FILTER = r"""
#include <math.h>
#include <stdint.h>
typedef struct {
  double rad_per_count, span, zero, period, sample_period, gain[3], nis_per_rad2, gate, max_acc;
  double lost_after, bleed, decay; int64_t jump_samples, settle;
  double angle, rate, acc, offset, offset_rate, raw, unwrapped, age, since, rejected_rad, nis;
  int64_t agreeing, accepted, missed, rejected, jumps; int tracking; double out[14];
} Filter;

static double shortest(double d, double span) {
  return span == 0.0 ? d : d - span * floor(d / span + 0.5);
}

static void cycle(Filter *f, double count, double valid, double elapsed) {
  double dt = f->period, innovation = 0.0;
  int has = valid == 1.0 && fabs(count) <= 9007199254740992.0;
  if (elapsed > 1.0 && isfinite(elapsed)) dt = elapsed * f->period;
  f->age += dt; f->since += dt; f->missed++; f->nis = 0.0;
  if (f->tracking && f->age > f->lost_after) {
    f->tracking = 0; f->angle += f->offset; f->rate = f->acc = f->offset = f->offset_rate = 0.0;
    f->accepted = 0;
  }
  if (f->tracking) {
    f->angle += dt * (f->rate + 0.5 * dt * f->acc); f->rate += dt * f->acc;
    if (f->offset != 0.0) {
      double w = f->bleed, e = dt == f->period ? f->decay : exp(-w * dt);
      double k = f->offset_rate + w * f->offset;
      f->offset = e * (f->offset + k * dt); f->offset_rate = e * (f->offset_rate - w * k * dt);
    }
    if (has) {
      double u = f->unwrapped + shortest(count - f->raw, f->span), gate = f->gate;
      double late = f->since - f->sample_period; int settling = f->accepted <= f->settle, inside;
      innovation = f->rad_per_count * (u - f->zero) - f->angle;
      if (late > 0.0) gate += 0.5 * f->max_acc * late * late;
      f->nis = innovation * innovation * f->nis_per_rad2;
      inside = fabs(innovation) <= gate;
      if (settling && !inside) f->accepted = 0;
      if (settling || inside) {
        f->angle += f->gain[0] * innovation; f->rate += f->gain[1] * innovation;
        f->acc += f->gain[2] * innovation;
        f->raw = count; f->unwrapped = u; f->age = 0.0; f->agreeing = f->missed = 0; f->accepted++;
      } else {
        f->rejected++;
        if (fabs(innovation - f->rejected_rad) > gate) f->agreeing = 0;
        f->agreeing++; f->rejected_rad = innovation;
        if (f->agreeing >= f->jump_samples) {
          f->angle += innovation; f->offset -= innovation; f->jumps++;
          f->raw = count; f->unwrapped = u; f->age = 0.0; f->agreeing = f->missed = 0; f->accepted++;
        }
      }
    }
  } else if (has) {
    double u = f->zero + shortest(count - f->zero, f->span);
    f->angle = f->rad_per_count * (u - f->zero); f->tracking = 1;
    f->raw = count; f->unwrapped = u; f->age = 0.0; f->missed = 0; f->accepted = 1;
  }
  if (has) f->since = 0.0;
  f->out[0] = f->angle + f->offset; f->out[1] = f->rate + f->offset_rate;
  f->out[2] = f->acc - f->bleed * (2.0 * f->offset_rate + f->bleed * f->offset);
  f->out[3] = innovation; f->out[4] = f->unwrapped; f->out[5] = f->offset;
  f->out[6] = (double)f->missed; f->out[7] = (double)f->rejected; f->out[8] = (double)f->jumps;
  f->out[9] = f->tracking && f->accepted > f->settle ? 1.0 : 0.0;
  f->out[10] = f->out[9] == 1.0 && f->missed == 0 ? 1.0 : 0.0;
  f->out[11] = 0.0; f->out[12] = f->nis; f->out[13] = 0.0;
}

void run(const double *set, const double *count, const double *valid, const double *elapsed,
         int64_t n, double *out) {
  Filter f = {0};
  f.rad_per_count = set[0]; f.span = set[1]; f.zero = 0.0; f.period = f.sample_period = set[2];
  f.gain[0] = set[3]; f.gain[1] = set[4]; f.gain[2] = set[5]; f.gate = set[6];
  f.max_acc = set[7]; f.lost_after = set[8]; f.bleed = set[9]; f.decay = exp(-f.bleed * f.period);
  f.jump_samples = 5; f.settle = 400; f.nis_per_rad2 = 1.0;
  for (int64_t i = 0; i < n; i++) {
    cycle(&f, count[i], valid[i], elapsed[i]);
    for (int j = 0; j < 14; j++) out[14 * i + j] = f.out[j];
  }
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = encoder(arguments.rounds) | observers(arguments.rounds)
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:44s} {value:9.3f}")


def encoder(rounds: int) -> dict[str, float]:
    """Fastest ns per step of ours and of C's, and their ratio."""
    cpr, period_s = 2**20, 100e-6
    t = period_s * np.arange(CYCLES)
    count = np.mod(np.rint(0.8 * np.sin(8 * np.pi * t) * cpr / (2 * np.pi)), 2.0**32)
    one = np.ones(CYCLES)
    ours = make(cpr, period_s)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "filter.c", Path(folder) / "filter.so"
        source.write_text(C_FILTER)
        subprocess.run(["gcc", *FLAGS, str(source), "-o", str(library), "-lm"], check=True)
        run = ctypes.CDLL(str(library)).run
    settings = np.array(
        [2 * np.pi / cpr, 2.0**32, period_s, *ours.gain, ours.gate_rad, 1000.0, 0.02, 2.0]
    )
    arrays = [a.ctypes.data_as(ctypes.c_void_p) for a in (settings, count, one, one)]

    def by_hand() -> np.ndarray:
        # its results are new each time, as ours are
        out = np.empty((CYCLES, 14))
        run(*arrays, ctypes.c_int64(CYCLES), out.ctypes.data_as(ctypes.c_void_p))
        return out

    result = ours.run(count, one, one)
    out = by_hand()
    # the same filter: angle, rate and acceleration up to the order of summation
    if not np.allclose(result[:, :3], out[:, :3], rtol=1e-6, atol=1e-6):
        raise SystemExit("the C filter computes something else")
    varying = make(cpr, period_s, gains="time_varying")
    steps = {
        "ours": lambda: ours.run(count, one, one),
        "C by hand": by_hand,
        "time-varying": lambda: varying.run(count, one, one),
    }
    best = fastest(steps, rounds, CYCLES)
    return {
        "encoder filter, steady (ns)": best["ours"],
        "the same in C by hand (ns)": best["C by hand"],
        "ratio": best["ours"] / best["C by hand"],
        "encoder filter, time-varying (ns)": best["time-varying"],
    }


def make(cpr: int, period_s: float, **changes: str) -> EncoderFilter:
    return EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=cpr, period_s=period_s,
        bandwidth_rad_s=310.4, counter_span=2.0**32, **changes,
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


def fastest(
    steps: dict[str, Callable[[], object]], rounds: int, cycles: int
) -> dict[str, float]:
    """Fastest round of each, ns a cycle; the rounds of all are interleaved."""
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            begin = time.perf_counter_ns()
            step()
            best[name] = min(best[name], (time.perf_counter_ns() - begin) / cycles)
    return best


if __name__ == "__main__":
    main()
