import pytest
from jinja2 import UndefinedError

from rigloop.display.pages import fill
from rigloop.display.tables import Table, Tone, Toned, words
from rigloop.soak.page import table

HOSTILE, SAFE = "<script>evil", "&lt;script&gt;evil"


def soak(**changes):
    values = {
        "title": HOSTILE,
        "seconds": 3.0,
        "good": True,
        "reasons": [],
        "rows": Table(words("a"), []),
        "samples": 2,
        "svg": None,
    }
    return fill("soak.html.jinja", **values | changes)


def test_what_is_filled_in_is_escaped():
    rows = Table(words(HOSTILE), [[Toned(HOSTILE, Tone.GOOD)], [HOSTILE]], note=HOSTILE)
    page = soak(rows=rows, reasons=[HOSTILE])
    assert HOSTILE not in page
    assert f'<td><span class="good">{SAFE}</span></td>' in page
    assert page.count(SAFE) == 7


def test_each_line_of_code_is_one_in_the_page():
    page = soak(rows=Table(words(""), [[Toned("one\ntwo <x>", Tone.CODE)]]))
    assert "<td><code>one</code><br><code>two &lt;x&gt;</code></td>" in page


def test_a_table_without_heads_or_in_groups_has_the_rows_that_it_has():
    assert "<thead>" not in soak(rows=Table(words(""), [["1"]]))
    assert soak(rows=Table(words("a"), [["1"], [], ["2"]])).count("<tbody>") == 2


def test_a_value_that_is_missing_is_a_mistake():
    with pytest.raises(UndefinedError):
        fill("soak.html.jinja", title="x")


def test_a_soak_of_no_rows_has_a_page():
    assert "Figures and limits" in soak(rows=table([]))
