"""Messages of a page and its layout: typed, bounded, and refused as a whole."""

import json

import msgspec
import pytest

from rigloop.monitor.layouts import layout_file, read_layout, write_layout
from rigloop.monitor.messages import MOST_BYTES, MOST_STRIPS, Follow, Layout, Play, read_message

FOLLOW = {"do": "follow", "id": 1, "signals": ["a/b"], "span_s": 10, "pixels": 800}


def test_a_good_message_is_read():
    assert read_message(json.dumps(FOLLOW)) == Follow(
        id=1, signals=["a/b"], span_s=10.0, pixels=800
    )
    assert read_message('{"do": "play", "speed": 0}') == Play(speed=0.0)


@pytest.mark.parametrize(
    "raw",
    [
        "", "{}", "[]", "nan", "\ud800", '{"do": "shutdown"}', '{"do": "follow"}', "[" * 5000,
        json.dumps(FOLLOW | {"pixels": 1e9}), json.dumps(FOLLOW | {"span_s": 1e9}),
        json.dumps(FOLLOW | {"span_s": float("nan")}), json.dumps(FOLLOW | {"signals": ["a"] * 61}),
        json.dumps(FOLLOW | {"signals": ["a" * 201]}), json.dumps(FOLLOW | {"signals": [""]}),
        json.dumps(FOLLOW | {"more": 1}), json.dumps(FOLLOW | {"id": -1}),
        json.dumps({"do": "write", "values": {"a": "1"}}),
        json.dumps({"do": "keep", "layout": {"strips": [["a"]] * (MOST_STRIPS + 1)}}),
        json.dumps({"do": "keep", "layout": {"theme": "<b>"}}),
        json.dumps({"do": "keep", "layout": {"scales": {"a": [1]}}}),
        json.dumps({"do": "keep", "layout": {"scales": {f"a{k}": [0, 1] for k in range(101)}}}),
        json.dumps({"do": "keep", "layout": {"scope_scales": {"a": [0, float("inf")]}}}),
        json.dumps(FOLLOW) + " " * MOST_BYTES,
    ],
)  # fmt: skip
def test_any_other_message_is_refused_with_words(raw):
    with pytest.raises(ValueError, match=r"\S"):
        read_message(raw)


def test_a_layout_is_kept_beside_a_rig_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rig = tmp_path / "my_rig.toml"
    path = layout_file("my_rig", rig)
    assert path == tmp_path / "my_rig.page.json"
    assert read_layout(path) == (Layout(), "")
    layout = Layout(strips=[["a/b"]], theme="dark", span_s=5.0, scales={"a/b": (-1.0, 2.0)})
    write_layout(path, layout)
    assert read_layout(path) == (layout, "")
    elsewhere = layout_file("../../x", None)
    assert elsewhere.parent == tmp_path / "state" / "rigloop" / "pages"
    write_layout(elsewhere, layout)
    assert read_layout(elsewhere) == (layout, "")


@pytest.mark.parametrize("text", ["", "{", '{"strips": 3}', '{"more": 1}', "\0" * 70_000])
def test_a_layout_that_is_none_is_left_out_with_words(tmp_path, text):
    path = tmp_path / "x.page.json"
    path.write_text(text)
    layout, problem = read_layout(path)
    assert layout == Layout()
    assert str(path) in problem


def test_a_layout_has_defaults_for_whatever_it_leaves_out():
    assert msgspec.json.decode(b"{}", type=Layout) == Layout()
