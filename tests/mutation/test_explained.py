"""An explanation of a mutant that survives is of a line that is there."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRIES = tomllib.loads(Path(__file__).with_name("explained.toml").read_text())


@pytest.mark.parametrize(
    "entry",
    [entry for entries in ENTRIES.values() if isinstance(entries, list) for entry in entries],
    ids=lambda entry: f"{entry['source']}: {entry['line'][:30]}",
)
def test_each_explained_line_is_in_its_source(entry):
    lines = (line.strip() for line in (ROOT / entry["source"]).read_text().splitlines())
    assert entry["line"] in lines
