"""A block whose output is no number is told beside the verdict, with or without a guard."""

import numpy as np

from rigloop.compose.wiring import load
from rigloop.judge.not_numbers import not_numbers

RIG = """
title = "roots"
tasks.main = { period_us = 1000, blocks = ["wave", "root", "next"] }
[blocks.wave]
kind = "sine"
unit = "1"
frequency_hz = 1.0
[blocks.root]
kind = "expression"
unit = "1"
formula = "sqrt(u1)"
reads = { u1 = "wave/y" }
[blocks.next]
kind = "gain"
unit = "1"
gain = 2.0
reads = { u = "root/y" }
"""


def told(tmp_path, bad, rows=1000):
    path = tmp_path / "roots.toml"
    path.write_text(RIG)
    signals = ("wave/y", "root/y", "next/y")
    record = np.ones(rows, [(name, "f8") for name in signals])
    record["root/y"][:bad] = record["next/y"][:bad] = np.nan
    return not_numbers(load(str(path)).rig, {"main": record})


def test_the_block_that_makes_no_number_of_numbers_is_named_and_none_behind_it(tmp_path):
    (line,) = told(tmp_path, 250)
    assert "root/y: NaN or infinite in 25 % of the cycles" in line
    assert "'root' (expression)" in line


def test_single_cycles_and_no_cycles_are_not_told(tmp_path):
    assert told(tmp_path, 5) == []
    assert told(tmp_path, 0, rows=0) == []
