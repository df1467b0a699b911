"""Each tool works without the others; models stand on orders of the sources; every function has a mutant."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import eva_ranges
import mutants
import spin_models
from spin_models import MODELS_OF, macros_of
from tools import INSTALL, is_there, missing

ROOT = Path(__file__).parents[2]
HEADERS = (mutants.AGES, mutants.BUCKET, mutants.FINDINGS, mutants.STATES, mutants.TORQUE, mutants.CYCLE,
           mutants.CIA402, mutants.ENABLE, mutants.FAULT)  # fmt: skip
# all tools but one are said to be missing, and wheels that are not that one cannot be imported
WITHOUT = """
import sys
sys.argv = ["run.py", "--json", "--only", "nothing has this name"]
for name in {hidden}:
    sys.modules[name] = None
sys.path.insert(0, {folder!r})
import tools
tools.is_there = lambda tool: tool in {there}
import run
print(sorted({{proof.tool for proof in run.proofs([t for t in run.INSTALL if tools.is_there(t)])}}))
sys.exit(run.main())
"""


@pytest.mark.parametrize("tool", INSTALL)
def test_a_tool_needs_no_other_one(tool):
    if tool == "bitwuzla" and not is_there(tool):
        pytest.skip(missing(tool))
    hidden = [] if tool == "bitwuzla" else ["bitwuzla", "pycparser"]
    text = WITHOUT.format(hidden=hidden, folder=str(Path(__file__).parent), there=[tool])
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines()[0] == str([tool])
    told = done.stderr.splitlines()
    assert told == [missing(other) for other in INSTALL if other != tool]


@pytest.mark.slow
def test_a_model_is_searched_to_its_end():
    if not is_there("spin"):
        pytest.skip(missing("spin"))
    model = next(m for m in MODELS_OF if m.name == "watchdog: hand-over")
    answer = spin_models.search(model)
    assert answer.outcome == "proved", answer.said


@pytest.mark.slow
def test_ranges_of_a_cycle_are_found_without_an_alarm():
    if not is_there("frama-c"):
        pytest.skip(missing("frama-c"))
    answer = eva_ranges.analyse(eva_ranges.RANGES[0])
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


ORDERED = [model for model in MODELS_OF if model.orders]


@pytest.mark.parametrize("model", ORDERED, ids=lambda model: model.name)
def test_the_sources_ask_for_every_order_that_a_model_stands_on(model):
    assert {f"{order.macro}=1" for order in model.orders} <= set(macros_of(model, {}))


def test_a_search_that_waits_for_a_processor_is_not_out_of_time(monkeypatch):
    def sleeps(model, changed, place):
        search = place / "pan"
        search.write_text("#!/bin/sh\nsleep 0.4\necho 'errors: 0, 5 states, stored'\n")
        search.chmod(0o755)
        return []

    monkeypatch.setattr(spin_models, "_written", sleeps)
    model = MODELS_OF[0]
    answer = spin_models.search(model, longest_s=0.2)
    assert (answer.outcome, answer.said) == ("proved", "5 states")
