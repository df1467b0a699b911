"""The properties of Bitwuzla hold, and a mutant makes one fall."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tools import is_there, missing

if not is_there("bitwuzla"):
    pytest.skip(missing("bitwuzla"), allow_module_level=True)

import mutants
from bus_properties import PROPERTIES as OF_BUS
from guard_properties import PROPERTIES as OF_GUARD
from prover import prove
from reach_properties import PROPERTIES as OF_REACH

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [*OF_GUARD, *OF_REACH, *OF_BUS], ids=lambda wanted: wanted.name)
def test_a_property_is_proved_of_the_source(wanted):
    answer = prove(wanted)
    assert answer.outcome == "proved", answer.said


def test_a_mutant_makes_its_property_fall():
    mutant = next(m for m in mutants.MUTANTS if m.function == "drive_may_move")
    changed = {mutant.source: mutants.applied(mutant, (ROOT / mutant.source).read_text())}
    wanted = next(w for w in OF_BUS if w.name == mutant.falls)
    assert prove(wanted, changed).outcome == "false"


@pytest.mark.parametrize("way", [1.0, -1.0], ids=["up", "down"])
def test_the_laws_of_sums_hold_of_doubles_whose_way_is_a_step_or_nearly_one(way):
    draw = np.random.default_rng(1)
    old = draw.normal(size=200_000)
    step = 2.0 ** draw.integers(-60, 3, 200_000) * draw.uniform(1, 2, 200_000)
    assert np.all((old - step <= old) & (old <= old + step))
    new = old + way * step
    for _ in range(3):
        beyond = way * (new - old) > step
        assert np.all((way * (old + way * step) <= way * new)[beyond])
        new = np.nextafter(new, way * np.inf)
    assert np.any(beyond)
