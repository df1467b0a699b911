"""What is larger, deeper or longer than any file of this project is refused in one sentence."""

import os

import pytest

from codegen.description.mechanism import MechanismError
from codegen.description.mechanism import load as load_mechanism
from io_bridge.emulator.catalogue.device_file import DeviceError, load_device
from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.log_schema import MappingError, load_mapping
from rig_configs.mistakes import ConfigError
from rigloop.compose.wiring import load as load_rig

TEXTS = {
    "arrays": ("x = " + "[" * 100_000 + "]" * 100_000, "nested deeper"),
    "tables": (".".join("a" * 1 for _ in range(50_000)) + " = 1", "nested deeper"),
    "inline tables": ("x = " + "{a=" * 50_000 + "1" + "}" * 50_000, "nested deeper|not TOML"),
    "values": ("x = [" + "1," * 200_001 + "]", "more than 200000 values"),
    "digits": ("x = " + "1" * 5000, "not TOML|digits"),
    "integer": ("x = " + "1" * 400, "digits"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "problem"), TEXTS.values(), ids=TEXTS)
def test_a_text_is_bounded(text, problem):
    with pytest.raises(UnreadableError, match=problem):
        parse_toml(text)


def mechanism(path):
    load_mechanism(path)


def rig(path):
    load_rig(str(path))


READERS = {
    "mechanism": (mechanism, MechanismError),
    "rig": (rig, ConfigError),
    "mapping": (load_mapping, MappingError),
    "device": (load_device, DeviceError),
}


@pytest.mark.parametrize(("read", "error"), READERS.values(), ids=READERS)
@pytest.mark.parametrize("kind", [*TEXTS, "large", "binary", "pipe"])
@pytest.mark.slow
def test_every_reader_refuses_it_in_its_own_words(tmp_path, read, error, kind):
    path = tmp_path / "one.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(100 << 20)
    elif kind == "binary":
        path.write_bytes(b"x = '\xff\xfe'")
    else:
        path.write_text(TEXTS[kind][0])
    with pytest.raises(error):
        read(path)


def test_a_file_is_read_no_further_than_its_limit(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UnreadableError, match="larger than 10 bytes"):
        read_text(path, 10)
