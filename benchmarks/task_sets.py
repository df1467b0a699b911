"""Random task sets through the analysis of `rt_core.timing.response`, beside an exact simulation of the scheduler.

    python benchmarks/task_sets.py [--sets 100] [--seed 15]

Of 2 to 5 tasks on one or two cores with periods of 1 to 10 times the shortest, priorities mostly by rate, spins up to
a third of the period, and a core that is 40 to 110 % full. The simulation (tests/parts/simulated_cores.py) knows no
formula: it steps from event to event, over two common periods with every cycle at its longest, and again with cycles
of random length. Exit code 1: an accepted set was late, or more than a fifth was refused though it was never late.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rigloop.display.tables import Table, figures, show, words
from rt_core.timing.response import Load, fits, responses

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "parts"))
from simulated_cores import run

BASES_NS = (100_000, 125_000, 200_000, 250_000, 500_000, 1_000_000)
MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10)
MOST_REFUSED = 0.2


def task_set(chosen: random.Random, bases: Sequence[int] = BASES_NS) -> list[Load]:
    """Draw a set of tasks, the shortest period one of these."""
    base = chosen.choice(bases)
    cores = chosen.choice((1, 2))
    n = chosen.randint(max(2, cores), 5)
    by_rate = chosen.random() < 0.7
    homes = [k % cores for k in range(n)]
    # UUniFast of Bini and Buttazzo 2005 on each core: shares of its load that are spread evenly
    shares = {}
    for core in range(cores):
        mine = [k for k in range(n) if homes[k] == core]
        left = chosen.uniform(0.4, 1.1)
        for place, k in enumerate(mine):
            rest = len(mine) - place - 1
            after = left * chosen.random() ** (1.0 / rest) if rest else 0.0
            shares[k], left = left - after, after
    loads = []
    for k in range(n):
        period = base * (1 if k == 0 else chosen.choice(MULTIPLES))
        cost = max(1000, int(shares[k] * period))
        spin = 0 if chosen.random() < 0.5 else int(period * chosen.uniform(0.02, 0.33))
        # shorter periods higher, or at random and with equals
        priority = 90 - period // base if by_rate else chosen.randint(40, 45)
        loads.append(Load(f"task{k}", period, cost, priority, homes[k], spin, usual_ns=cost))
    return loads


def main() -> int:
    """Draw, analyse, simulate, judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=15)
    options = parser.parse_args()
    chosen = random.Random(options.seed)
    accepted = late = refused = fitting = beyond = 0
    for _ in range(options.sets):
        loads = task_set(chosen)
        until = 2 * math.lcm(*(load.period_ns for load in loads))
        longest = run(loads, until)
        is_late = any(thread.late for thread in longest.values())
        drawn = run(loads, until, lambda load: chosen.randint(load.cost_ns // 3, load.cost_ns))
        if fits(loads, 8):
            accepted += 1
            late += is_late or any(thread.late for thread in drawn.values())
            found = responses(loads, 8)
            for thread in longest.values():
                bound = found[thread.load.name].response_ns or 0
                beyond += thread.longest_ns > bound
        else:
            refused += 1
            fitting += not is_late
    heads = [*words(""), *figures("sets")]
    rows = [
        ["accepted", str(accepted)],
        ["accepted, and late in the simulation", str(late)],
        ["responses beyond their bound", str(beyond)],
        ["refused", str(refused)],
        ["refused, and never late in the simulation", str(fitting)],
    ]
    show(Table(heads, rows), Console())
    return int(late > 0 or beyond > 0 or fitting > MOST_REFUSED * options.sets)


if __name__ == "__main__":
    sys.exit(main())
