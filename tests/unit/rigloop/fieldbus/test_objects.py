import pytest

from io_bridge.master.master import BringUpError
from rigloop.fieldbus.objects import as_message, encode, in_words, parse_number, parse_object


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0x6041", (0x6041, 0)), ("0x1018:1", (0x1018, 1)), ("0x1c12:0x01", (0x1C12, 1))],
)
def test_an_object_is_read_as_it_is_written(text, expected):
    assert parse_object(text) == expected


@pytest.mark.parametrize("text", ["6041", "0x60411", "0x6041:", "0x6041:256", "0x6041:-1", "", "x"])
def test_what_is_no_object_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="as in 0x1018:1"):
        parse_object(text)


def test_numbers_are_whole():
    assert [parse_number(text) for text in ("500", "-20", "0x1F")] == [500, -20, 31]
    with pytest.raises(ValueError, match=r"value '1\.5': write a whole number"):
        parse_number("1.5")


def test_a_number_must_fit_its_object():
    assert encode(-1, 2) == b"\xff\xff"
    assert encode(65535, 2) == b"\xff\xff"
    with pytest.raises(BringUpError, match="65536 does not fit the 2 bytes"):
        encode(65536, 2)
    with pytest.raises(BringUpError, match="an object of 30 bytes"):
        encode(1, 30)


def test_an_answer_has_every_reading_of_its_bytes():
    message = as_message(0, 0x6071, 0, b"\xec\xff", written=False)
    assert (message["unsigned"], message["signed"]) == (65516, -20)
    assert in_words(message) == "slave 0  0x6071:0  0xffec  65516  (-20)"
    text = as_message(1, 0x1008, 0, b"a drive\0", written=False)
    assert "'a drive'" in in_words(text)
