"""Blocks of the library in a rig: checked, with units that go through them, composed and stepped."""

from pathlib import Path

import numpy as np
import pytest

from rig_configs.mistakes import ConfigError
from rigloop.compose.blocks import make_blocks, plan_blocks
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load
from rigloop.signals.listing import signals_of
from rt_core.loop.offline import Offline

RIG = """
title = "Blocks of the library"
[tasks.fast]
period_us = 1000
blocks = ["torque", "angle", "smooth", "difference", "area", "power"]
[blocks.torque]
kind = "sine"
frequency_hz = 20.0
unit = "Nm"
[blocks.angle]
kind = "gain"
gain = 3.0
unit = "rad"
reads = { u = "torque/y" }
[blocks.smooth]
kind = "low_pass"
cutoff_hz = 10.0
reads = { u = "angle/y" }
[blocks.difference]
kind = "sum"
unit = "rad"
weights = [1.0, -1.0]
reads = { u1 = "angle/y", u2 = "smooth/y" }
writes = { y = "wheel/angle_rad" }
[blocks.area]
kind = "integrator"
reads = { u = "wheel/angle_rad" }
[blocks.power]
kind = "product"
reads = { u1 = "area/y", u2 = "torque/y" }
"""


@pytest.fixture
def write(tmp_path):
    def write_rig(old="", new=""):
        assert old in RIG
        path = tmp_path / "rig.toml"
        path.write_text(RIG.replace(old, new, 1) if old else RIG)
        return str(path)

    return write_rig


def test_wrong_values_of_a_block_are_told_beside_mistakes_of_the_schema(write):
    wrong = (
        'kind = "expression"\nformula = "sin("\nunit = "furlong"\nreads = { u1 = "torque/y" }\n'
        '[blocks.other]\nkind = "gain"'
    )
    with pytest.raises(ConfigError) as caught:
        load(write('kind = "gain"', wrong))
    told = "\n".join(str(mistake) for mistake in caught.value.mistakes)
    assert "blocks.angle.formula = 'sin('" in told
    assert "blocks.angle.unit = 'furlong': 'furlong': no unit" in told
    assert "blocks.other: no task steps it" in told


def test_a_kind_of_no_installed_distribution_says_so(write):
    with pytest.raises(ConfigError, match="no installed distribution brings this block"):
        load(write('kind = "gain"', 'kind = "lab/gain"'))


def test_a_declaration_that_is_not_there_is_looked_for_from_the_rigs_folder(write):
    with pytest.raises(ConfigError, match="the path starts at the folder of the rig"):
        load(write('kind = "gain"', 'kind = "blocks/gone.toml"'))


EXPRESSION = """kind = "expression"
formula = "{}"
unit = "{}"
reads = {{ u1 = "torque/y", u2 = "wheel/angle_rad" }}
[blocks.second]
"""


@pytest.mark.parametrize(
    ("formula", "unit", "words"),
    [
        ("u1 + u2", "Nm", "'u1 + u2' adds or compares Nm and rad"),
        ("max(u1, u2)", "Nm", "'max(u1, u2)' adds or compares Nm and rad"),
        ("2.0 * u1 + sqrt(u2**2) - u1", "Nm", "adds or compares rad and Nm"),
        ("sin(u1)", "1", "'sin(u1)' takes rad or a number, not Nm"),
        ("exp(u2**2)", "1", "'exp(u2 ** 2)' takes a number, not rad^2"),
        ("u1 * u2", "Nm", "it gives kg m^2 rad/s^2, and the block's unit is Nm"),
        ("abs(-u1)", "rad", "it gives Nm, and the block's unit is rad"),
    ],
)
def test_units_inside_a_formula_are_checked_where_they_are_known(write, formula, unit, words):
    with pytest.raises(ConfigError) as caught:
        load(write('kind = "gain"', EXPRESSION.format(formula, unit) + 'kind = "gain"'))
    told = [str(mistake) for mistake in caught.value.mistakes]
    assert any(f"blocks.angle.formula = '{formula}'" in line and words in line for line in told)


@pytest.mark.parametrize(
    ("formula", "unit"),
    [
        ("2.5 * u2 + u1", "Nm"),  # a number may have a unit: this one is a stiffness
        ("u1 - 0.5 + u4", "Nm"),  # 0 is what is not wired
        ("atan2(u1, u1 + 1.0)", "rad"),
        ("sqrt(u1 * u1)", "Nm"),
        ("u1 * sin(u2) * sign(u2) / u1**2 * u1", "1"),
        ("tanh(u2 / 0.1) * u1", "Nm"),
    ],
)
def test_a_formula_whose_units_fit_or_are_not_known_is_no_mistake(write, formula, unit):
    with pytest.raises(ConfigError) as caught:
        load(write('kind = "gain"', EXPRESSION.format(formula, unit) + 'kind = "gain"'))
    assert not [m for m in caught.value.mistakes if "formula" in m.key]


OTHER = """kind = "{}"
{}
[blocks.second]
"""


def told(path):
    with pytest.raises(ConfigError) as caught:
        load(path)
    return [str(mistake) for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('conversion = "mm_to_m"\nunit = "Nm"', "is a factor of m/mm, and y in Nm and u in Nm ask for one of 1"),
        ('conversion = "deg_to_rad"\nunit = "rad"', "is a factor of rad/deg, and y in rad and u in Nm ask for"),
        ('conversion = "one_to_percent"\nunit = "Nm"', "is a factor of %, and"),
    ],
)  # fmt: skip
def test_a_conversion_between_other_units_than_those_of_its_ports_is_a_mistake(write, keys, words):
    wrong = OTHER.format("convert", keys + '\nreads = { u = "torque/y" }')
    found = told(write('kind = "gain"', wrong + 'kind = "gain"'))
    assert any("blocks.angle.conversion = " in line and words in line for line in found)


@pytest.mark.parametrize(
    ("keys", "signal"),
    [
        ('conversion = "m_to_mm"\nunit = "mNm"', "torque/y"),  # the prefix is what it converts
        ('conversion = "rad_to_turns"\nunit = "rev s"', "area/y"),
        ('conversion = "rad_s_to_rpm"\nunit = "rev/min"', "turn/y"),
        ('conversion = "m_s_to_km_h"\nunit = "km/h"', "run/y"),
        ('conversion = "by_factor"\nfactor = 3.0\nunit = "N"', "torque/y"),
    ],
)
def test_a_conversion_between_the_units_of_its_ports_is_none(write, keys, signal):
    sources = [
        f'[blocks.{name}]\nkind = "sine"\nfrequency_hz = 1.0\nunit = "{unit}"'
        for name, unit in (("turn", "rad/s"), ("run", "m/s"))
    ]
    block = f'[blocks.other]\nkind = "convert"\n{keys}\nreads = {{ u = "{signal}" }}'
    new = "\n".join([*sources, block, "[blocks.angle]"])
    found = told(write("[blocks.angle]", new))  # no task steps them
    assert not [line for line in found if ".conversion = " in line]


@pytest.mark.parametrize(
    ("kind", "keys", "words"),
    [
        ("limiter", "lower = 1.0\nupper = -1.0", "upper = -1.0: must be >= lower = 1; in as u"),
        ("hysteresis", "lower = 1.0\nupper = 1.0", "upper = 1.0: must be > lower = 1"),
        ("integrator", "lower = 1.0", "initial = 0.0: must be >= lower = 1"),
        ("integrator", "upper = 1.0\ninitial = 2.0", "initial = 2.0: must be <= upper = 1"),
    ],
)
def test_limits_that_contradict_each_other_are_told_before_anything_is_compiled(
    write, kind, keys, words
):
    wrong = OTHER.format(kind, keys + '\nreads = { u = "torque/y" }')
    found = told(write('kind = "gain"', wrong + 'kind = "gain"'))
    assert any(f"blocks.angle.{words}" in line for line in found)


def test_a_power_that_is_too_large_is_refused_at_once_also_of_a_unit_with_a_prefix(write):
    # its unit, to the power, would have a number of three thousand million digits
    wrong = OTHER.format(
        "expression", 'formula = "u1**999999999"\nunit = "rad"\nreads = { u1 = "torque/y" }'
    )
    path = write('kind = "gain"', wrong + 'kind = "gain"')
    text = (file := Path(path)).read_text().replace('unit = "Nm"', 'unit = "mNm"')
    file.write_text(text)
    found = [line for line in told(path) if "formula" in line]
    assert found == [line for line in found if "a power must be 1 to 12" in line] != []


def test_a_power_in_another_spelling_is_told_how_to_be_written(write):
    wrong = OTHER.format("expression", 'formula = "u1^2"\nunit = "1"\nreads = { u1 = "torque/y" }')
    found = told(write('kind = "gain"', wrong + 'kind = "gain"'))
    assert any("a power is written u1**2" in line for line in found)


def test_a_chain_of_squares_has_a_unit_until_no_text_can_have_it(write):
    chain = [
        f'[blocks.p{n}]\nkind = "product"\nreads = {{ u1 = "{one}", u2 = "{one}" }}'
        for n, one in enumerate(["torque/y", *(f"p{n}/y" for n in range(12))])
    ]
    names = ", ".join(f'"p{n}"' for n in range(13))
    path = write('blocks = ["torque",', f'blocks = ["torque", {names},')
    Path(path).write_text(Path(path).read_text() + "\n".join(chain))
    units = {signal.path: signal.unit for signal in signals_of(load(path).rig)}
    assert units["p0/y"] == "Nm^2"
    assert units["p12/y"] is None


def test_a_port_that_was_forgotten_gives_no_second_mistake_about_a_unit(write):
    (mistake,) = told(write('reads = { u = "angle/y" }', "reads = {}"))
    assert "blocks.smooth.reads.u: missing" in mistake


def test_units_go_through_blocks_that_keep_or_turn_them(write):
    units = {signal.path: signal.unit for signal in signals_of(load(write()).rig)}
    wanted = {"torque/y": "Nm", "smooth/y": "rad", "wheel/angle_rad": "rad", "area/y": "rad s"}
    assert units.items() >= wanted.items()
    assert units["power/y"] == "kg m^2 rad/s"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('u2 = "smooth/y"', 'u2 = "area/y"', "takes rad, and block 'area' writes the signal in rad s"),
        ('unit = "rad"\nreads', 'unit = "rad/s"\nreads', "takes rad, and block 'angle' writes the signal in rad/s"),
        ("cutoff_hz = 10.0", "cutoff_hz = 0.0", "blocks.smooth.cutoff_hz"),
        ('unit = "Nm"', 'unit = "newton"', "blocks.torque.unit"),
        ('unit = "Nm"', "", "blocks.torque.unit: missing"),
        ('reads = { u = "torque/y" }', "", "blocks.angle.reads"),
        ('{ u = "wheel/angle_rad" }', '{ x = "wheel/angle_rad" }', "no such port"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_block_and_key(write, old, new, words):
    with pytest.raises(ConfigError) as caught:
        load(write(old, new))
    assert words in str(caught.value)


def test_a_rig_of_library_blocks_steps(write):
    loaded = load(write())
    kernels = build_kernels(loaded)
    assert set(kernels) == {*loaded.rig.blocks}
    offline = Offline(plan_blocks(loaded.rig, make_blocks(loaded.rig, kernels)))
    images = offline.run("fast", np.arange(500) * 1_000_000)["fast"]
    column = {path: images[:, i] for i, path in enumerate(offline.paths("fast"))}
    torque = np.sin(2 * np.pi * 20.0 * np.arange(500) * 1e-3)
    assert np.allclose(column["torque/y"], torque, atol=1e-12)
    assert np.array_equal(column["wheel/angle_rad"], column["angle/y"] - column["smooth/y"])
    assert np.array_equal(column["power/y"], column["area/y"] * column["torque/y"])
