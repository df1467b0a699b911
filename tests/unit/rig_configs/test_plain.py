"""Text that leaves is harmless where it goes, and still the same text where that can read escapes."""

import ast
import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rig_configs import plain
from rig_configs.names import file_name_problem, path_problem, text_problem

ANY = st.text(max_size=60)
SURROGATES = st.text(st.characters(categories=["Cs", "Cc", "Cf", "Ll", "Zl"]), max_size=20)
NASTY = st.lists(
    st.sampled_from(['"', "'", "\\", "*/", "/*", "\n", "\r", '"""', "??/", "$", "\x1b", "a", "#", "\u202e"]),
    max_size=12,
).map("".join)  # fmt: skip
TEXTS = ANY | SURROGATES | NASTY


@pytest.mark.slow
@given(TEXTS)
def test_a_screen_gets_as_many_characters_and_none_that_it_obeys(text):
    made = plain.shown(text)
    assert len(made) == len(text)
    assert all(c in "\n\t" or plain.is_shown(c) for c in made)
    assert plain.shown(made) == made


@pytest.mark.slow
@given(TEXTS)
def test_a_line_is_one_line(text):
    assert len(plain.line(text, 30)) <= 30
    assert len(plain.line(text).splitlines()) <= 1


@given(TEXTS)
def test_a_comment_ends_nothing(text):
    made = plain.comment(text)
    assert len(made.splitlines()) <= 1
    for ending in ("*/", "/*", '"', "\\", "'''", "??"):
        assert ending not in made
    ast.parse(f'"""{made}"""\nx = "{made}" # {made}\n')


@given(TEXTS)
def test_a_string_of_c_is_one_literal(text):
    made = plain.c_string(text)
    assert made.isascii()
    assert "\n" not in made
    # the escapes that it uses mean the same in Python's bytes, but for \?
    raw = ast.literal_eval("b" + made.replace("\\?", "?"))
    assert raw == text.encode("utf-8", errors="replace")


@given(ANY | NASTY)
def test_a_string_of_toml_reads_back(text):
    assert tomllib.loads(f"x = {plain.toml_string(text)}")["x"] == text
    assert tomllib.loads(f"{plain.toml_key(text)} = 1") == {text: 1}


@given(ANY | NASTY)
def test_json_stays_the_same_value(text):
    made = plain.json_text(json.dumps([text], ensure_ascii=False))
    assert json.loads(made) == [text]
    assert all(c in "\n\t" or plain.is_shown(c) for c in made)


@given(TEXTS)
def test_a_file_name_stays_in_its_folder(text):
    made = plain.file_name(text)
    assert file_name_problem(made) is None or made.lower() != made or made.isidentifier()
    assert "/" not in made
    assert made not in (".", "..")
    assert 0 < len(made) <= 64


@settings(deadline=None)  # the first example imports matplotlib
@given(TEXTS)
def test_math_text_is_none(text):
    from matplotlib.cbook import is_math_text

    assert not is_math_text(plain.math_free(text))


def test_the_door_takes_what_people_write():
    assert path_problem("wheel/angle_rad") is None
    assert path_problem("drive-2/torque_nm") is None
    assert text_problem("Lenkrad, 5 kHz · ±12 Nm – “test”") is None


def test_the_door_refuses_what_climbs_or_commands():
    for path in ("../x", "/x", "x/", "x//y", "x/../y", "", "x y", "x\ny", "é", "a" * 121, "x\0"):
        assert path_problem(path), path
    for text in ("a\nb", "a\x1b", "a\u202e", "a\u200b", "a\ud800"):
        assert text_problem(text), text
