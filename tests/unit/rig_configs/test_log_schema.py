import pytest
from plain_mapping import MAPPING as GOOD

from rig_configs.log_schema import (
    MappingError,
    load_mapping,
    matching_mapping,
    parse_mapping,
    shipped_mappings,
)


def test_shipped_mappings_are_valid_and_told_apart_by_their_headers():
    mappings = shipped_mappings()
    assert [m.name for m in mappings] == [
        "comma2k19_segment40",
        "comma2k19_segment40_can",
        "phobos_limtoc_k10",
        "phobos_raw_counts_v6",
    ]
    for mapping in mappings:
        assert matching_mapping(mapping.columns + mapping.header, mappings) is mapping
        assert mapping.source
        assert mapping.license


def test_longest_matching_header_wins_and_a_tie_is_none():
    short, long = (
        parse_mapping(GOOD, "a"),
        parse_mapping(GOOD.replace('["t", "a"]', '["t", "a", "x"]'), "b"),
    )
    assert matching_mapping(["t", "a", "x"], [short, long]) is long
    assert matching_mapping(["t", "a"], [short, long]) is short
    assert matching_mapping(["t", "a"], [short, short]) is None
    assert matching_mapping(["t"], [short, long]) is None


def test_all_mistakes_of_a_mapping_are_in_one_message_a_line_each():
    wrong = (
        GOOD.replace('unit = "s"', 'unit = "fortnight"')
        .replace("counts_per_rev = 1000", "counts_per_rev = -1\ncolour = 3")
        .replace('title = "plain"', "")
    )
    with pytest.raises(MappingError) as caught:
        parse_mapping(wrong, "my.toml")
    message = str(caught.value)
    for part in (
        "my.toml",
        "time.unit",
        "fortnight",
        "angle.counts_per_rev",
        "angle.colour",
        "title",
    ):
        assert part in message
    assert len(message.splitlines()) == 4
    assert "did you mean 'column'" in message


@pytest.mark.parametrize(("old", "new"), [("= 1000", '= "1000"'), ('"t"\n', "1\n")])
def test_a_value_of_another_type_is_not_converted(old, new):
    with pytest.raises(MappingError, match="valid"):
        parse_mapping(GOOD.replace(old, new), "my.toml")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('unit = "s"', 'unit = "ticks"', "ticks_per_s"),
        ('unit = "s"', 'unit = "s"\ncounter_bits = 32', "counter_bits"),
        ("[angle]", "[angle]\nsign = 0", "angle.sign"),
        (
            "[angle]",
            '[[torque]]\nname = "x"\ncolumn = "y"\nunit = "nm"\n' * 2 + "[angle]",
            "differ",
        ),
        ("[time]", "[time", "not TOML"),
    ],
)
def test_mistake_is_named(old, new, words):
    with pytest.raises(MappingError, match=words):
        parse_mapping(GOOD.replace(old, new, 1), "my.toml")


def test_mapping_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(MappingError, match=r"none\.toml"):
        load_mapping(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"a = \xff\xfe")
    with pytest.raises(MappingError, match="not a text file"):
        load_mapping(tmp_path / "binary.toml")
