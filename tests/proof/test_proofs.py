"""The properties that need wheels alone hold; each function that is proved has a mutant, and each mutant its text."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("bitwuzla")

import mutants
from bus_properties import PROPERTIES as OF_BUS
from guard_properties import PROPERTIES as OF_GUARD
from prover import prove
from spin_models import MODELS_OF, macros_of

ROOT = Path(__file__).parents[2]
HEADERS = (mutants.AGES, mutants.BUCKET, mutants.FINDINGS, mutants.STATES, mutants.TORQUE, mutants.CYCLE,
           mutants.CIA402, mutants.ENABLE, mutants.FAULT)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [*OF_GUARD, *OF_BUS], ids=lambda wanted: wanted.name)
def test_a_property_is_proved_of_the_source(wanted):
    answer = prove(wanted)
    assert answer.outcome == "proved", answer.said


def test_every_function_has_a_mutant_and_every_mutant_a_place():
    for mutant in mutants.MUTANTS:
        text = (ROOT / mutant.source).read_text()
        assert mutants.applied(mutant, text) != text
    functions = {
        (header, name)
        for header in HEADERS
        for name in re.findall(
            r"^static inline .*?(\w+)\(", (ROOT / header).read_text(), re.MULTILINE
        )
    }
    assert functions == {(m.source, m.function) for m in mutants.MUTANTS if m.source.endswith(".h")}


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


ORDERED = [model for model in MODELS_OF if model.orders]


@pytest.mark.parametrize("model", ORDERED, ids=lambda model: model.name)
def test_the_sources_ask_for_every_order_that_a_model_stands_on(model):
    assert {f"{order.macro}=1" for order in model.orders} <= set(macros_of(model, {}))
