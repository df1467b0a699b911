"""`docs/rig.md` is what is printed, and every key of the rig file has a sentence and an example there."""

import tomllib
import typing
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter

from rig_configs.numbers import Positive
from rig_configs.schema import BlockTable
from rig_configs.section import Section
from rigloop.blocks.catalogue import kinds
from rigloop.blocks.keys import sentences, tables_of, toml
from rigloop.blocks.page import examples, kind_tables, page, tables

PAGE = Path(__file__).parents[4] / "docs" / "rig.md"
KEYS = [
    (kind.name, table.heading, key)
    for kind in kinds().values()
    for table in kind_tables(kind)
    for key in table.keys
] + [("", table.heading, key) for table in tables() for key in table.keys]


def test_the_page_is_what_is_printed():
    assert PAGE.read_text() == page(), "run `python -m rigloop.blocks.page > docs/rig.md`"


MODELS = {t.model: t for kind in kinds().values() for t in kind_tables(kind)} | {
    t.model: t for t in tables()
}


@pytest.mark.parametrize(
    ("kind", "heading", "key"), KEYS, ids=lambda value: getattr(value, "name", None) or str(value)
)
def test_every_key_has_a_sentence_and_an_example(kind, heading, key):
    assert key.sentence.endswith("."), f"{kind} {heading} {key.name}: it has no sentence"
    assert key.sentence[0].isupper() or key.sentence[0] == "`", key.sentence
    assert key.example or key.below, f"{kind} {heading} {key.name}: nobody gave an example"
    assert f"| `{key.name}` |" in PAGE.read_text()
    if key.example:
        assert "it" in tomllib.loads(f"it = {key.example}")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_example_is_a_value_that_the_schema_takes(model):
    hints = typing.get_type_hints(model, include_extras=True)
    (table, *_) = tables_of("[x]", model, examples())
    for key in table.keys:
        if key.example and not key.below:
            value = tomllib.loads(f"it = {key.example}")["it"]
            TypeAdapter(hints[key.name]).validate_python(value, strict=True)


def test_every_port_is_on_the_page():
    text = PAGE.read_text()
    for kind in kinds().values():
        for port in (kind.ports({}) or ((), ()))[1]:
            assert f"| `{port.name}`" in text


class Inner(Section):
    """A table within."""

    depth_m: Positive = 1.0
    """The table is so deep."""


class Outer(BlockTable):
    """A table."""

    kind: Literal["outer"]
    width_nm: Annotated[Positive, Field(le=5.0)]
    """The table is so wide,
    or less."""
    bare: int = 3
    described: Annotated[list[int], Field(description="Each one counts.", max_length=3)] = []
    inner: Inner | None = None
    """What is within."""
    others: dict[str, Inner] = {}
    """More of it."""


def test_what_a_key_says_of_itself():
    found = list(tables_of("[blocks.NAME]", Outer, {(Outer, "width_nm"): 2.5}))
    assert [t.heading for t in found] == [
        "[blocks.NAME]",
        "[blocks.NAME.inner]",
        "[blocks.NAME.others.NAME]",
    ]
    keys = {key.name: key for key in found[0].keys}
    width = keys["width_nm"]
    assert (width.unit, width.limits, width.example) == ("Nm", "> 0, ≤ 5", "2.5")
    assert width.is_needed
    assert width.sentence == "The table is so wide, or less."
    assert keys["bare"].sentence == ""  # and so the test above would find it
    assert keys["described"].sentence == "Each one counts."
    assert keys["described"].limits == "at most 3 of them"
    assert keys["inner"].below == "[blocks.NAME.inner]"
    assert "reads" in sentences(Outer)  # of the base


@pytest.mark.parametrize(
    "value",
    [True, -1, 0.5, 'a"b\\', [1, 2], {"a/b": 1, "c": {"d": [True]}}, {}, 1e-6, 4294967296.0],
)
def test_toml_is_read_back(value):
    assert tomllib.loads(f"it = {toml(value)}")["it"] == value
