"""No number beyond what can be calculated with gets through any key of any file of a rig."""

import copy
import math
import tomllib
import types
import typing

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from io_bridge.emulator.catalogue.device_file import DeviceError, load_device, shipped
from rig_configs import load, numbers
from rig_configs.log_schema import MappingError, load_mapping
from rig_configs.mistakes import ConfigError
from rigloop.blocks.catalogue import rig_model
from rigloop.compose.wiring import load as load_rig

STRANGE = {
    "huge": 1e300,
    "negative": -1e300,
    "infinite": math.inf,
    "nan": math.nan,
    "subnormal": 5e-324,
    "tiny": 1e-300,
    "integer": 10**200,
}
RIGS = sorted((load.HERE / "rigs").glob("*.toml"))
OBSERVER = load.HERE / "rigs" / "steering_observer.toml"


def floats(table, path=()):
    """Where a document has floats."""
    items = table.items() if isinstance(table, dict) else enumerate(table)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from floats(value, (*path, key))
        elif isinstance(value, float):
            yield (*path, key)


def one_of_each(document):
    """Where a rig has floats: of its blocks of one kind, the last ones alone."""
    found = {}
    for path in floats(document):
        block = document["blocks"][path[1]] if path[0] == "blocks" else {}
        found[block.get("kind", path[1]), *path[2:]] = path
    return found.values()


def changed(document, path, value):
    made = copy.deepcopy(document)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return made


def as_toml(value):
    """Enough of TOML to write a rig."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_toml(str(k))} = {as_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def rig_file(folder, document):
    path = folder / "strange.toml"
    path.write_text("".join(f"{k} = {as_toml(v)}\n" for k, v in document.items()))
    return path


def bare_floats(model, at=""):
    """Fields of a schema that take a float without the bounds of `numbers`."""

    def look(annotation, metadata, where):
        if typing.get_origin(annotation) is typing.Annotated:
            inner, *more = typing.get_args(annotation)
            yield from look(inner, [*metadata, *more], where)
        elif annotation is float:
            if not any("_bounded" in str(getattr(m, "func", "")) for m in metadata):
                yield where
        elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from bare_floats(annotation, where)
        else:
            union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
            for inner in typing.get_args(annotation):
                yield from look(inner, metadata if union else [], where)

    for name, info in model.model_fields.items():
        assert isinstance(info, FieldInfo)
        hints = typing.get_type_hints(model, include_extras=True)
        yield from look(hints[name], list(info.metadata), f"{at}{model.__name__}.{name} ")


def test_every_float_of_the_schema_is_bounded():
    assert list(bare_floats(rig_model())) == []


def test_a_bare_float_would_be_found():
    class Bad(BaseModel):
        good: numbers.Real = 1.0
        one: float = 1.0
        other: dict[str, list[float]] = {}

    assert [w.strip() for w in bare_floats(Bad)] == ["Bad.one", "Bad.other"]


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("rig", RIGS, ids=lambda p: p.stem)
def test_all_strange_numbers_of_a_rig_are_named_at_once(tmp_path, rig, kind):
    document = tomllib.loads(rig.read_text())
    where = list(floats(document))
    for path in where:
        document = changed(document, path, STRANGE[kind])
    with pytest.raises(ConfigError) as caught:
        load_rig(str(rig_file(tmp_path, document)))
    found = {m.key: m for m in caught.value.mistakes}
    for path in where:
        mistake = found[".".join(map(str, path))]
        assert "limit" in mistake.problem, mistake
        assert mistake.remedy, mistake


def test_a_key_that_the_schema_does_not_know_is_bounded_too(tmp_path):
    text = OBSERVER.read_text()
    path = tmp_path / "strange.toml"
    sensor = next(row for row in text.splitlines() if ".sensors" in row and row.startswith("["))
    path.write_text(text.replace(sensor, f"{sensor}\nspan = [[1e300], {{ x = nan }}]"))
    with pytest.raises(ConfigError, match=r"span.*1e\+300.*limit.*nan.*limit"):
        load_rig(str(path))


@pytest.mark.slow
@pytest.mark.parametrize("value", [1e15, 1e-15, -1e15, 86_400.0, 0.0, -0.0])
@pytest.mark.parametrize("rig", RIGS[3:5], ids=lambda p: p.stem)
def test_a_number_at_a_bound_is_good_or_named(tmp_path, rig, value):
    document = tomllib.loads(rig.read_text())
    for path in one_of_each(document):
        try:
            load_rig(str(rig_file(tmp_path, changed(document, path, value))))
        except ConfigError as error:
            assert str(path[0]) in str(error)  # noqa: PT017, both ends are good


@pytest.mark.parametrize("value", ["1e300", "nan", "5e-324", "1" * 40])
def test_a_mapping_names_its_strange_numbers(tmp_path, value):
    text = (load.HERE / "logs" / "phobos_limtoc_k10.toml").read_text()
    path = tmp_path / "log.toml"
    rows = [
        f"counts_per_rev = {value}" if row.startswith("counts_per_rev") else row
        for row in text.splitlines()
    ]
    assert rows != text.splitlines()
    path.write_text("\n".join(rows))
    with pytest.raises(MappingError, match=r"angle\.counts_per_rev.*limit"):
        load_mapping(path)


def test_a_device_names_all_its_strange_numbers(tmp_path):
    text = next(p for p in shipped().values() if "options" in p.read_text()).read_text()
    path = tmp_path / "device.toml"
    path.write_text(text.replace("[options]", "[options]\nx = 1e300\ny = [nan, 5e-324]"))
    with pytest.raises(DeviceError) as caught:
        load_device(path)
    for key in ("options.x", "options.y.0", "options.y.1"):
        assert f"{key} = " in str(caught.value)
