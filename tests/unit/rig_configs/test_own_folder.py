from pathlib import Path

import pytest

from rig_configs.own_folder import own_folder


@pytest.mark.parametrize(
    ("named", "home", "found"),
    [
        ("/a", "/h", "/a"),
        ("", "/h", "/h/.cache"),
        ("a", "/h", "/h/.cache"),
        ("a", "h", None),
    ],
)
def test_a_whole_name_counts_else_the_home_else_nothing(monkeypatch, named, home, found):
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setenv("HOME", home)
    assert own_folder("XDG_CACHE_HOME", ".cache") == (found and Path(found))
