"""Declarations: all mistakes at once, bounded, and nothing of them compiled or run."""

import os

import pytest

from rig_configs.mistakes import ConfigError
from rigloop.blocks.compiled.declared import MOST_BYTES, read_declared
from rigloop.blocks.compiled.unit_rule import Factor, unit_rule

GOOD = """
about = "Twice."
[inputs.u]
unit = "rad"
about = "In."
[outputs.y]
unit = "as u / s"
about = "Out."
[parameters.k]
about = "A number."
default = 2.0
"""
SOURCE = '#include "mine.h"\n#error "was compiled"\n'


def refused(path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_declared(path)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_a_declaration_is_read_and_nothing_is_compiled(write_block, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "false")
    declared = read_declared(write_block(GOOD, SOURCE))
    assert declared.name == "mine"
    assert declared.source == SOURCE.encode()
    assert declared.units["y"].factors == (Factor("u", 1, True), Factor("s", -1, False))


def test_one_byte_more_is_another_block(write_block):
    one = read_declared(write_block(GOOD, SOURCE)).hash
    assert read_declared(write_block(GOOD, SOURCE + " ")).hash != one
    assert read_declared(write_block(GOOD + " ", SOURCE)).hash != one
    assert read_declared(write_block(GOOD, SOURCE, "other")).hash != one
    assert read_declared(write_block(GOOD, SOURCE)).hash == one


def test_a_unit_that_nobody_knows_is_a_mistake_of_the_declaration(write_block):
    text = GOOD.replace('"rad"', '"furlong"').replace('"as u / s"', '"as nothing / s"')
    told = refused(write_block(text, SOURCE))
    assert len(told) == 2
    assert "inputs.u.unit: 'furlong': no unit 'furlong' is known; known: " in told[0]
    assert "outputs.y.unit: 'nothing': no unit 'nothing' is known; known: " in told[1]


def test_a_value_of_two_types_is_refused_once_by_its_own_key(write_block):
    size = '[state.big]\nabout = "Many."\nsize = {}\n'
    (told,) = refused(write_block(GOOD + size.format(10**9), SOURCE))
    assert "state.big.size = 1000000000: input should be less than or equal to 2097152" in told
    (told,) = refused(write_block(GOOD + size.format(1.5), SOURCE))
    assert "state.big.size = 1.5: input should be a valid integer or a valid string" in told


def test_a_number_is_limited_by_another_number_of_the_block_alone(write_block):
    limits = 'least = "other"\n[parameters.other]\nabout = "A number."\ndefault = 1.0\n'
    assert read_declared(write_block(GOOD + limits, SOURCE)).declaration.parameters[
        "k"
    ].relations == [(">=", "other")]
    for wrong in ('least = "k"\n', 'above = "gone"\n', 'most = "u"\n'):
        (mistake,) = refused(write_block(GOOD + wrong, SOURCE))
        assert "parameters.k: '" in mistake
        assert "is no other number of this block" in mistake


def test_half_the_rate_of_the_task_limits_a_frequency_alone(write_block):
    limit = 'below = "half_rate_hz"\n'
    assert read_declared(write_block(GOOD + 'unit = "Hz"\n' + limit, SOURCE))
    (mistake,) = refused(write_block(GOOD + limit, SOURCE))
    assert "parameters.k: is in 1, half_rate_hz in Hz" in mistake


def test_an_input_is_needed_from_a_value_of_a_whole_parameter_alone(write_block):
    needs = '[inputs.v]\nunit = "1"\nabout = "In."\notherwise = 0.0\nneeded_from = { k = 2 }\n'
    (mistake,) = refused(write_block(GOOD + needs, SOURCE))
    assert "inputs.v.needed_from: 'k' is no whole parameter of this block" in mistake
    whole = GOOD.replace("default = 2.0", 'type = "whole"\ndefault = 2')
    assert read_declared(write_block(whole + needs, SOURCE))
    (mistake,) = refused(write_block(whole + needs.replace("otherwise = 0.0\n", ""), SOURCE))
    assert "the input has to be wired anyway" in mistake


def test_only_choices_have_units_of_their_own(write_block):
    choice = (
        '[parameters.way]\nabout = "Which."\ntype = "choice"\nchoices = ["up"]\ndefault = "up"\n'
    )
    units = "unit_of = {{ {} }}\n"
    (one,) = refused(write_block(GOOD + choice + units.format('down = "m"'), SOURCE))
    assert "parameters.way.unit_of.down: is no choice" in one
    (one,) = refused(write_block(GOOD + choice + units.format('up = "furlong"'), SOURCE))
    assert "parameters.way.unit_of.up: 'furlong': no unit 'furlong' is known" in one


def test_too_many_ports_are_counted(write_block):
    ports = "".join(f'[inputs.p{i}]\nunit = "1"\nabout = "In."\n' for i in range(800))
    (told,) = refused(write_block(GOOD + ports, SOURCE))
    assert told.endswith("has 801 entries, at most 64")


def test_all_mistakes_come_at_once(write_block):
    text = """
about = "Many mistakes."
[inputs.double]
unit = "rad"
about = "A reserved word."
[inputs.y]
unit = "rad//s"
about = "No unit."
[outputs.y]
unit = "any"
about = "No unit of its own, and the name of an input."
[outputs.z]
unit = "as z"
about = "In a circle."
[parameters.kind]
about = "Taken."
[parameters.x]
type = "list"
about = "Brings n_x."
default = [1.0]
fewest = 2
length = "nothing"
[parameters.n_x]
about = "Is there twice."
default = 5.0
most = 4.0
[parameters.c]
type = "choice"
about = "Without choices."
[state.line]
about = "Of an unknown size."
size = "many"
[state.a_b]
about = "Too much."
size = 2000000
[state.c_d]
about = "Too much."
size = 2000000
"""
    found = "\n".join(refused(write_block(text, SOURCE)))
    for words in (
        "inputs.double: is a reserved word", "inputs.y.unit: is not a unit",
        "outputs.y: an input has this name too", "outputs.y.unit: an output has a unit of its own",
        "outputs.z.unit: follows from itself", "parameters.kind: every block", "the member 'n_x'",
        "parameters.x.length: is not a list", "parameters.x.default: has 1 numbers",
        "parameters.n_x.default: must be <= 4", "parameters.c.choices", "state.line.size", "state: 4000000 numbers",
    ):  # fmt: skip
        assert words in found, words


def test_unknown_keys_and_wrong_types_are_named(write_block):
    text = (
        'cflags = ["-ffast-math", "-g", "-fplugin=x.so"]\n'
        + GOOD.replace("default = 2.0", 'default = 2.0\nunits = "m"')
        + '[state.s]\nabout = 3\ntype = "float"\n'
    )
    found = "\n".join(refused(write_block(text, SOURCE)))
    for words in (
        "parameters.k.units", "did you mean 'unit'", "state.s.about", "state.s.type",
        "cflags.0 = '-ffast-math': would break bit-equal replay; remove",
        "cflags.2 = '-fplugin=x.so': is no flag of code generation; take -O",
    ):  # fmt: skip
        assert words in found, words


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inputs.u", 'inputs."u; }"'), ("inputs.u", 'inputs."u\\n"'), ("inputs.u", "inputs.U"),
        ("inputs.u", "inputs.rigloop_u"), ("parameters.k", 'parameters."*/"'), ("inputs.u", "inputs.if"),
        ("inputs.u", f"inputs.{'u' * 65}"), ("parameters.k", "parameters.unit"),
    ],
)  # fmt: skip
def test_a_name_that_is_no_identifier_is_refused(write_block, old, new):
    assert refused(write_block(GOOD.replace(old, new).replace("as u", "rad"), SOURCE))


@pytest.mark.parametrize("about", ["a\x07b", "a‮b", "x" * 501, "a\\nb"])
def test_a_sentence_that_no_screen_shows_as_it_is_is_refused(write_block, about):
    escaped = about.replace("\x07", "\\u0007").replace("‮", "\\u202e")
    assert refused(write_block(GOOD.replace("In.", escaped), SOURCE))


def test_files_that_are_none(write_block, tmp_path):
    assert "No such file" in refused(tmp_path / "none.toml")[0]
    path = write_block(GOOD, SOURCE)
    path.with_suffix(".c").unlink()
    assert "its source mine.c" in refused(path)[0]
    path.with_suffix(".c").write_bytes(b"\xff")
    assert "not a UTF-8" in refused(path)[0]
    path.with_suffix(".c").write_bytes(b" " * (MOST_BYTES + 1))
    assert "larger than" in refused(path)[0]
    path.with_suffix(".c").unlink()
    os.mkfifo(path.with_suffix(".c"))
    assert "regular file" in refused(path)[0]
    path.write_bytes(b"\xff")
    assert "not UTF-8" in refused(path)[0]
    path.write_text("a = [[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]")
    assert "nested deeper" in refused(path)[0]
    path.write_text("[")
    assert "not TOML" in refused(path)[0]


@pytest.mark.parametrize(
    ("text", "kind", "factors"),
    [
        ("any", "any", ()),
        ("key unit", "key", ()),
        ("1", "fixed", ()),
        ("rad/s^2", "fixed", (Factor("rad", 1, False), Factor("s", -2, False))),
        ("as u", "derived", (Factor("u", 1, True),)),
        ("as u * s", "derived", (Factor("u", 1, True), Factor("s", 1, False))),
        ("as u^-1 / s", "derived", (Factor("u", -1, True), Factor("s", -1, False))),
        ("u", "fixed", (Factor("u", 1, False),)),
    ],
)
def test_forms_of_a_unit(text, kind, factors):
    rule = unit_rule(text, ["u"])
    assert (rule.kind, rule.factors) == (kind, factors)


@pytest.mark.parametrize(
    "text", ["", "as", "as ", "rad s", "rad//s", "*/", "rad^", "rad^2^2", "m" * 65, "2 m", "rad*"]
)
def test_what_is_no_unit_is_refused(text):
    with pytest.raises(ValueError, match=r"is not a unit|is longer"):
        unit_rule(text, ["u"])
