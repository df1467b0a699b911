"""Rows of plain numbers: each number is the nearest double, and what is no such row is left alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_bridge.logs.formats.rows import read_rows

DIGITS = st.text("0123456789", min_size=1, max_size=25)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**30), 10**30).map(str),
    st.builds(lambda a, b, e: f"{a}.{b}e{e}", DIGITS, DIGITS, st.integers(-330, 310)),
    st.builds(lambda a, b: f"-{a}.{b}", DIGITS, DIGITS),
)


def read(text, n_columns, delimiter=",", decimal=".", most=100):
    out = np.full((n_columns, most), 7.0)
    n, at = read_rows(text.encode(), 0, out, 0, most, delimiter, decimal)
    return out[:, :n].T.tolist(), text.encode()[at:].decode()


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_each_number_is_the_nearest_double(cells):
    rows, rest = read(",".join(cells) + "\n", len(cells))
    assert not rest
    assert [struct(value) for value in rows[0]] == [struct(float(cell)) for cell in cells]


def struct(value):
    return np.float64(value).tobytes()


@pytest.mark.parametrize("sign", [",", ";", "\t", "|", " ", ":"])
def test_cells_between_delimiters(sign):
    rows, rest = read(f"1{sign}-2.5{sign}3e2\n 4 {sign} 5 {sign} 6 \n", 3, sign)
    assert (rows, rest) == ([[1.0, -2.5, 300.0], [4.0, 5.0, 6.0]], "")


def test_decimal_comma_quotes_and_a_delimiter_at_the_end():
    rows, rest = read('"1,5";"2"\n0,25;-3.5;\n', 2, ";", ",")
    assert (rows, rest) == ([[1.5, 2.0], [0.25, -3.5]], "")


def test_empty_cells_and_nan_are_no_numbers():
    rows, rest = read("1,,NaN\n,2,\n", 3)
    assert not rest
    assert [[math.isnan(cell) for cell in row] for row in rows] == [
        [False, True, True],
        [True, False, True],
    ]


@pytest.mark.parametrize(
    "line",
    [
        "1,2,3",
        "1",
        "1,x",
        "1,0x1f",
        "1,2x",
        "1,1e",
        "1,--2",
        "1,inf",
        "",
        "1,.",
        "1,1_0",
        f"1,{'9' * 80}",
        '1,"2',
    ],
)
def test_a_line_that_is_not_plain_is_left_to_others(line):
    rows, rest = read(f"1,2\n{line}\n3,4\n", 2)
    assert (rows, rest) == ([[1.0, 2.0]], f"{line}\n3,4\n")


def test_a_blank_line_of_one_column_and_a_line_without_an_end():
    assert read("1\n\n2\n", 1) == ([[1.0]], "\n2\n")
    assert read("1,2\n3,4", 2) == ([[1.0, 2.0]], "3,4")


def read_with_words(text, kinds, delimiter=","):
    raw, room = text.encode(), 100
    out = np.full((len(kinds), room), 7.0)
    spans = np.zeros((sum(map(bool, kinds)), room, 2), np.int64)
    n, at = read_rows(raw, 0, out, 0, room, delimiter, ".", np.array(kinds, np.uint8), spans)
    words = [[raw[b:e].decode() for b, e in column[:n].tolist()] for column in spans]
    return out[:, :n].T.tolist(), words, raw[at:].decode()


def test_words_and_hexadecimal_numbers_stand_where_they_are_expected():
    text = "1, idle, 0x1F\n2,,16\n3,2 of é,0xFFFFFFFFFFFFFFFF \n"
    rows, words, rest = read_with_words(text, [0, 1, 2])
    assert not rest
    assert [row[0] for row in rows] == [1.0, 2.0, 3.0]
    assert all(math.isnan(row[1]) for row in rows)
    assert [row[2] for row in rows] == [31.0, 16.0, float(2**64 - 1)]
    assert words == [["idle", "", "2 of é"], ["0x1F", "16", "0xFFFFFFFFFFFFFFFF "]]
    assert read_with_words("1  on 2\n", [0, 1, 0], " ") == (
        [pytest.approx([1.0, math.nan, 2.0], nan_ok=True)], [["on"]], "",
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["time,state,raw", ",on,", 'x,"on",1', '2,"on",1', "2,on", "2,on,0x", "2,on,0x1g", "2,on,1,1"],
)
def test_a_line_with_other_words_is_left_to_others(line):
    *_, rest = read_with_words(f"1,on,0x1\n{line}\n", [0, 1, 2])
    assert rest == f"{line}\n"


@pytest.mark.parametrize("kinds", [[0, 1], [0, 1, 1, 0], [0, 0, 1]])
def test_words_without_room_are_refused(kinds):
    spans = np.zeros((2, 1, 2), np.int64)
    with pytest.raises(ValueError, match="no room for the words"):
        read_rows(b"1,a,b\n", 0, np.zeros((3, 1)), 0, 1, ",", ".", np.array(kinds, np.uint8), spans)


def test_no_more_rows_than_there_is_room_for():
    assert read("1,2\n3,4\n", 2, most=1) == ([[1.0, 2.0]], "3,4\n")
    with pytest.raises(ValueError, match="outside"):
        read_rows(b"1\n", 3, np.zeros((1, 1)), 0, 1, ",", ".")
    with pytest.raises(ValueError, match="outside"):
        read_rows(b"1\n", 0, np.zeros((1, 1)), 1, 1, ",", ".")
