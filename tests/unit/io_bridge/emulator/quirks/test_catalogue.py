"""Quirks by name: on the command line, in device files, and what is wrong with them."""

import pytest

from io_bridge.emulator.catalogue.device_file import DeviceError, load_device
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.emulator.quirks.catalogue import QuirkError, make_quirk, quirks, split, title

DRIVE = 'kind = "drive"\n[identity]\nvendor = 1\nproduct = 2\nrevision = 3\n'


@pytest.mark.parametrize("name", sorted(quirks()))
def test_every_quirk_can_be_made_as_it_is_and_says_what_it_is(name):
    assert type(make_quirk(name)) is quirks()[name]
    assert title(name).endswith(".")
    for option in quirks()[name].OPTIONS.values():
        assert option.words
        assert option.mistake(option.default) == ""


def test_quirks_behind_a_name_are_taken_in_order():
    name, found = split("direct_drive+late_reply:ms=2.5+wrong_reply:field=index,index=0x1018")
    assert name == "direct_drive"
    assert [type(quirk).__name__ for quirk in found] == ["LateReply", "WrongReply"]
    assert split("direct_drive") == ("direct_drive", [])
    assert split("vendor.xml#EL1234:0x10+emergency")[0] == "vendor.xml#EL1234:0x10"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("direct_drive+late_replie", "'late_replie': there is none; did you mean late_reply"),
        ("direct_drive+Late_Reply", "'Late_Reply': there is none; did you mean late_reply"),
        ("direct_drive+late_reply:ms=1e+9", "ms = 1000000000.0: a number from"),
        ("direct_drive+", "direct_drive+: no device file"),
        ("+late_reply", "+late_reply: no device file"),
        ("direct_drive+xyzzy", "known are busy_eeprom"),
        ("direct_drive+late_reply:mss=3", "mss: no such option; did you mean ms?"),
        ("direct_drive+duplicate_reply:ms=3", "ms: no such option; it has none"),
        ("direct_drive+late_reply:ms=-1", "ms = -1.0: a number from 0.0 to 60000.0"),
        ("direct_drive+late_reply:ms=nan", "ms = nan: a number"),
        ("direct_drive+late_reply:ms", "'ms': write option=value"),
        ("direct_drive+wrong_reply:field=colour", "field = 'colour': one of counter, index"),
        ("direct_drive+wrong_reply:then_right=perhaps", "then_right = 'perhaps': true or false"),
        ("direct_drive+emergency:code=0x10000", "code = 65536: a whole number from 0x0 to 0xffff"),
    ],
)
def test_a_mistake_names_quirk_option_value_and_remedy(name, message):
    with pytest.raises((QuirkError, DeviceError)) as caught:
        make_device(name)
    assert message in str(caught.value)
    assert str(caught.value).startswith(name)


def test_all_mistakes_of_a_name_come_at_once():
    with pytest.raises(QuirkError) as caught:
        make_device("direct_drive+late_reply:ms=x+nothing+emergency:at=noon")
    assert len(str(caught.value).splitlines()) == 3


def test_a_device_file_has_quirks_with_options_some_of_them_twice(tmp_path):
    path = tmp_path / "drive.toml"
    path.write_text(
        DRIVE
        + "[quirks.late_reply]\nms = 30\n[quirks.emergency]\n"
        + '[[quirks.refused_transition]]\nto = "safeop"\n[[quirks.refused_transition]]\nto = "op"\n'
    )
    device = load_device(path)
    assert [type(quirk).__name__ for quirk in device.quirks] == [
        "LateReply",
        "Emergency",
        "RefusedTransition",
        "RefusedTransition",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[quirks.late_replies]", "did you mean late_reply"),
        ("[quirks]\nlate_reply = 30", "quirks.late_reply = 30: a table of its options"),
        ("[quirks.late_reply]\nms = '30'", "ms = '30': a number"),
        ("[quirks.late_reply]\nms = true", "ms = True: a number"),
        ("[quirks.wrong_reply]\nfield = ['index']", "field = ['index']: one of"),
        ("[[quirks]]\nlate_reply = {}", "quirks: must be a table"),
        ("[quirks.needs_setup]\nindex = 0x5555", "has no object 0x5555:0"),
    ],
)
def test_a_mistake_in_a_device_file_has_its_name(tmp_path, text, message):
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE + text)
    with pytest.raises(DeviceError) as caught:
        load_device(path)
    assert message in str(caught.value)
    assert all(line.startswith(str(path)) for line in str(caught.value).splitlines())


def test_a_file_whose_name_looks_like_a_quirk_is_a_file(tmp_path):
    path = tmp_path / "a+late_reply"
    path.mkdir()
    path = path / "drive.toml"
    path.write_text(DRIVE)
    assert make_device(str(path)).quirks == ()


def test_a_quirk_belongs_to_one_device():
    quirk = make_quirk("late_reply")
    make_device("direct_drive").add_quirk(quirk)
    with pytest.raises(ValueError, match="belongs to one device"):
        make_device("direct_drive").add_quirk(quirk)
