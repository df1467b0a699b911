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


def test_no_more_rows_than_there_is_room_for():
    assert read("1,2\n3,4\n", 2, most=1) == ([[1.0, 2.0]], "3,4\n")
    with pytest.raises(ValueError, match="outside"):
        read_rows(b"1\n", 3, np.zeros((1, 1)), 0, 1, ",", ".")
    with pytest.raises(ValueError, match="outside"):
        read_rows(b"1\n", 0, np.zeros((1, 1)), 1, 1, ",", ".")
