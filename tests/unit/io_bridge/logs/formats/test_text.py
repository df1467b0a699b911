"""Texts of loggers: dialects, banners, names and damages."""

import gzip
import subprocess

import numpy as np
import pytest

from io_bridge.logs.formats import table as limits
from io_bridge.logs.formats.read import read_tables
from io_bridge.logs.formats.table import LogError
from io_bridge.logs.formats.text import read_text

ROWS = [(f"{0.01 * i:.2f}", f"{i}", f"{0.5 * i:.1f}") for i in range(40)]


def read(folder, text, name="log.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (table,) = read_tables(path)
    return table


def joined(sign, rows=ROWS, names="t,a,m"):
    head = sign.join(names.split(",")) + "\n" if names else ""
    return head + "".join(sign.join(row) + "\n" for row in rows)


@pytest.mark.parametrize("sign", [",", ";", "\t", "|", " "])
def test_delimiter_is_found(tmp_path, sign):
    table = read(tmp_path, joined(sign))
    assert list(table.numbers) == ["t", "a", "m"]
    np.testing.assert_array_equal(table.numbers["a"], np.arange(40))
    assert table.spoilt == ()


def test_decimal_comma(tmp_path):
    table = read(tmp_path, joined(";").replace(".", ","))
    assert table.numbers["t"][7] == 0.07
    assert table.form["decimal"] == ","


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings(tmp_path, encoding):
    table = read(tmp_path, joined(";", names="t,Lenkwinkel °,m").encode(encoding))
    assert list(table.numbers) == ["t", "Lenkwinkel °", "m"]


def test_banner_names_and_units_on_lines_of_their_own(tmp_path):
    banner = "Logger 3\nSample rate;1000\nstarted 2026-01-02\n\n"
    text = banner + joined(";", names="t,a,m").replace("t;a;m\n", "t;a;m\n[s];[deg];[Nm]\n")
    table = read(tmp_path, text)
    assert table.units == {"t": "s", "a": "deg", "m": "Nm"}
    assert "Sample rate;1000" in table.remarks
    assert len(table.row) == 40


def test_names_may_be_missing_late_or_repeated(tmp_path):
    bare = read(tmp_path, joined(",", names=""))
    assert (list(bare.numbers), bare.has_names) == (["column_1", "column_2", "column_3"], False)
    lines = joined(",", names="").splitlines()
    late = read(tmp_path, "\n".join([*lines[:9], "t,a,m", *lines[9:], ""]))
    assert list(late.numbers) == ["t", "a", "m"]
    assert len(late.row) == 40
    again = read(tmp_path, "\n".join(["t,a,m", *lines[:9], "t,a,m", *lines[9:], ""]))
    assert [(s.kind, s.row, s.line) for s in again.spoilt] == [("repeated header", 9, 11)]


def test_commented_names_and_a_delimiter_at_each_end(tmp_path):
    table = read(tmp_path, "# t, a, m\n" + "".join(",".join(row) + ",\n" for row in ROWS))
    assert list(table.numbers) == ["t", "a", "m"]


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_packed_texts(tmp_path, packing):
    raw = joined(",").encode()
    if packing == "gz":
        raw = gzip.compress(raw)
    else:
        raw = pytest.importorskip("zstandard").ZstdCompressor().compress(raw)
    assert len(read(tmp_path, raw).row) == 40


def test_packed_text_that_is_cut_gives_what_comes_before(tmp_path):
    rng = np.random.default_rng(0)
    many = [(f"{0.01 * i:.2f}", f"{rng.integers(10**6)}", "0") for i in range(20_000)]
    raw = gzip.compress(joined(",", many).encode())
    table = read(tmp_path, raw[: len(raw) // 2])
    assert 1000 < len(table.row) < 20_000


def test_packed_text_has_a_limit_once_unpacked(tmp_path, monkeypatch):
    from io_bridge.logs.formats import opened

    assert opened.MOST_BYTES == limits.MOST_BYTES
    monkeypatch.setattr(opened, "MOST_BYTES", 1000)
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"0,1\n" * 10_000))
    with pytest.raises(LogError, match="unpacks to more than"):
        read_tables(path)


def test_missing_library_is_named_with_its_extra(tmp_path, monkeypatch):
    import sys

    path = tmp_path / "log.mf4"
    path.write_bytes(b"MDF     4.10    ")
    monkeypatch.setitem(sys.modules, "asammdf", None)
    with pytest.raises(LogError, match=r"pip install 'rigloop\[mdf\]'"):
        read_tables(path)


def test_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    subprocess.run(["mkfifo", path], check=True)
    with pytest.raises(LogError, match="not a regular file"):
        read_tables(path)


def test_a_minus_sign_of_a_typesetter_is_a_minus(tmp_path):
    path = tmp_path / "log.csv"
    rows = "".join(f"{k};\N{MINUS SIGN}{k},5\n" for k in range(30))
    path.write_text(f"t;winkel\n{rows}")
    (table,) = read_tables(path)
    assert table.numbers["winkel"].tolist() == [-(k + 0.5) for k in range(30)]
    assert not table.spoilt


def test_a_remark_between_the_names_and_the_rows(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,enc\n# 4096 counts/rev\n" + "".join(f"{k},{k * k}\n" for k in range(30)))
    (table,) = read_tables(path)
    assert table.columns == ("time", "enc")
    assert any("4096" in remark for remark in table.remarks)


def test_counts_in_hexadecimal_are_numbers(tmp_path):
    rows = [(t, f"0x{16 * int(i):04X}", m) for t, i, m in ROWS]
    table = read(tmp_path, joined(",", rows))
    np.testing.assert_array_equal(table.numbers["a"], 16.0 * np.arange(40))


def test_lines_of_a_banner_that_look_like_rows_are_none(tmp_path):
    banner = "Separator\tTab\nSamples\t40\t40\nDate\t2024/05/06\t2024/05/06\nX0\t0.0\t0.0\nDelta_X\t0.01\t0.01\n"
    table = read(tmp_path, f"{banner}***End_of_Header***\n" + joined("\t"), "log.lvm")
    assert (list(table.numbers), table.spoilt) == (["t", "a", "m"], ())
    assert table.n_rows == 40


def test_names_of_two_words_between_tabulators(tmp_path):
    table = read(tmp_path, joined("\t", names="Time,Steering Angle,Steering Torque"))
    assert list(table.numbers) == ["Time", "Steering Angle", "Steering Torque"]


def test_sentence_above_the_rows_is_no_line_of_names(tmp_path):
    table = read(tmp_path, "# angle in rad\n" + joined(" ", names=""))
    assert (table.has_names, table.remarks) == (False, ("# angle in rad",))


def test_cells_that_bring_their_names(tmp_path):
    rows = [f"t_ms:{10 * k},enc:{k},trq:{0.5 * k}" for k in range(40)]
    rows[20] = "guru meditation"
    table = read(tmp_path, "Booting...\n" + "\n".join(rows) + "\n", "serial.txt")
    assert list(table.numbers) == ["t_ms", "enc", "trq"]
    assert [(one.kind, one.line) for one in table.spoilt] == [("damaged row", 22)]


@pytest.mark.parametrize(
    "row", ["[{t}, {a}, {m}]", "({t}; {a}; {m}),", '{{"t": {t}, "a": {a}, "m": {m}}}']
)
def test_rows_between_brackets(tmp_path, row):
    lines = [row.format(t=t, a=a, m=m) for t, a, m in ROWS]
    table = read(tmp_path, "\n".join(lines) + "\n")
    names = ["t", "a", "m"] if '"t"' in row else ["column_1", "column_2", "column_3"]
    assert list(table.numbers) == names
    assert table.numbers[names[1]].tolist() == [float(a) for _, a, _ in ROWS]
    assert not table.spoilt


def test_hexadecimal_counts_without_a_mark(tmp_path):
    rows = [(t, f"{3 * int(i) + 0x0FE0:04X}", m) for t, i, m in ROWS]
    table = read(tmp_path, joined(",", rows))
    np.testing.assert_array_equal(table.numbers["a"], 3.0 * np.arange(40) + 0x0FE0)
    plain = read(tmp_path, joined(",", [(t, f"{int(i):04d}", m) for t, i, m in ROWS]))
    np.testing.assert_array_equal(plain.numbers["a"], np.arange(40))


def test_lines_of_a_header_that_begin_with_what_they_are(tmp_path):
    head = "Name;Axis.Pos;Name;Axis.Torque\nSampleTime[ms];1;SampleTime[ms];1\nUnit;deg;Unit;Nm\n\n"
    rows = [(t, a, t, m) for t, a, m in ROWS]
    table = read(tmp_path, head + joined(";", rows, ""))
    assert list(table.numbers) == ["Name", "Axis.Pos", "Name (2)", "Axis.Torque"]
    assert (table.units["Axis.Pos"], table.units["Axis.Torque"]) == ("deg", "Nm")


MONITORED = "".join(f"09:08:07.{k // 4:03d} -> {250 * k},{300 + k % 9}\n" for k in range(400))


@pytest.mark.parametrize(
    ("head", "name"), [("", "column_2"), ("micros,enc\n", "micros"), ("09:08:06.9 -> micros,enc\n", "micros")]
)  # fmt: skip
def test_time_before_each_line_of_a_serial_monitor_is_a_column(tmp_path, head, name):
    table = read_text(tmp_path / "a.csv", (head + MONITORED).encode())
    np.testing.assert_array_equal(table.numbers[name], 250.0 * np.arange(400))
    assert len(table.columns) == 3
    assert not table.spoilt


@pytest.mark.parametrize(
    ("names", "page"),
    [("時間,操舵角,トルク", "cp932"), ("时间,转角,扭矩", "gb18030"), ("Zeit,Größe °,Übermaß", "cp1252"),
     ("temps,référence élevée,l\u2019angle “été”", "cp1252"), ("Zähler,äöüß,µ²", "cp1252")],
)  # fmt: skip
def test_names_in_old_code_pages(tmp_path, names, page):
    rows = "".join(f"{0.01 * k:.2f},{k},{k % 7}\n" for k in range(99))
    table = read_text(tmp_path / "a.csv", f"{names}\n{rows}".encode(page))
    assert table.columns == tuple(names.split(","))
