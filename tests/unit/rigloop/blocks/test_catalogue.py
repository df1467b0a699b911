"""A kind of block is one entry of one folder: everything that a rig can do with it follows from that file."""

import importlib
import sys
import tomllib
from textwrap import dedent

import numpy as np
import pytest

from estimators.encoder import filter as encoder_filter
from rig_configs import units
from rig_configs.load import find_rig
from rig_configs.mistakes import ConfigError
from rigloop.blocks import catalogue
from rigloop.blocks.catalogue import KindError, find_kind, kinds, rig_model, rig_model_of
from rigloop.blocks.checked import read_checked
from rigloop.blocks.kinds import encoder_filter as filter_kind
from rigloop.blocks.kinds import guard as guard_kind
from rigloop.blocks.kinds import relay as relay_kind
from rigloop.compose.blocks import make_blocks, plan_blocks
from rigloop.compose.wiring import load
from rigloop.judge.fault_words import explain_fault
from rigloop.signals.listing import signals_of
from rt_core.loop.offline import Offline
from rt_core.safety import guard

FLIPPER = dedent('''
    """A relay whose torque is written in millinewton metres: what a stranger adds."""

    from typing import Literal

    from rig_configs.names import SignalPath
    from rig_configs.numbers import Positive
    from rig_configs.schema import BlockTable
    from rigloop.blocks.kind import BlockKind, Port, constant
    from rigloop.blocks.kinds.relay_step import Relay


    class FlipperBlock(BlockTable):
        """A relay of a small torque."""

        kind: Literal["flipper"]
        torque_mnm: Positive
        """The torque has this size."""
        reads: dict[SignalPath, SignalPath]


    KIND = BlockKind(
        name="flipper",
        schema=FlipperBlock,
        ports=constant(
            (Port("angle_rad", "rad", "The torque has the sign of this angle."),),
            (Port("torque_nm", "Nm", "The torque."),),
        ),
        make=lambda making: Relay(
            1e-3 * making.block.torque_mnm, making.name, making.reads(["angle_rad"]), making.writes(["torque_nm"])
        ),
        about=__doc__,
        faults={1: "the flipper has lost its angle"},
        remedy="look at its angle",
        )
''')
RIG = """
title = "a block of a new kind"
[tasks.only]
period_us = 1000
blocks = ["bus", "wheel", "flip"]
[blocks.bus]
kind = "bus"
terminals.box = { inputs = { position_count = { bit = 0, bits = 32 } } }
[blocks.wheel]
kind = "encoder_filter"
counts_per_rev = 4096
lost_after_ms = 20.0
reads = { position_count = "bus/box/position_count", valid = "bus/box/valid", elapsed = "loop/only/elapsed" }
[blocks.flip]
kind = "flipper"
torque_mnm = 250.0
reads = { angle_rad = "wheel/angle_rad" }
[show]
torque = "flip/torque_nm"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Let the folder of kinds go on in a temporary one; what is written there is found."""
    place = importlib.import_module(catalogue.PLACE)
    monkeypatch.setattr(place, "__path__", [*place.__path__, str(tmp_path)])
    forget()
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(f"{catalogue.PLACE}.{path.stem}", None)
    forget()


def forget():
    kinds.cache_clear()
    rig_model.cache_clear()


@pytest.fixture
def rig(folder):
    (folder / "flipper.py").write_text(FLIPPER)
    path = folder / "rig.toml"
    path.write_text(RIG)
    return path


def test_one_file_is_a_kind(rig):
    loaded = load(str(rig))
    assert loaded.rig.blocks["flip"].torque_mnm == 250.0
    assert read_checked(rig).rig == loaded.rig
    count = "bus/box/position_count"
    inputs = [count, "bus/box/valid"]
    run = Offline(plan_blocks(loaded.rig, make_blocks(loaded.rig, {}), inputs=inputs))
    counts = np.concatenate([np.full(40, 100.0), np.full(40, -100.0)])
    images = run.run(
        "only", 1_000_000 * np.arange(80), forced={count: counts, "bus/box/valid": np.ones(80)}
    )
    torque = images["only"][:, run.paths("only").index("flip/torque_nm")]
    assert torque[39] == 0.25
    assert set(torque) == {0.25, -0.25}


def test_its_signals_and_faults_are_known(rig):
    loaded = load(str(rig))
    by_path = {signal.path: signal for signal in signals_of(loaded.rig)}
    assert by_path["flip/torque_nm"].unit == "Nm"
    assert by_path["flip/torque_nm"].readers == ("show.torque",)
    assert by_path["wheel/angle_rad"].readers == ("flip.angle_rad",)
    words, remedy = explain_fault(loaded.rig, "only", 3, 1)
    assert "the flipper has lost its angle" in words
    assert remedy == "look at its angle"


def test_its_mistakes_name_file_key_value_and_near_misses(rig):
    rig.write_text(
        RIG.replace("torque_mnm = 250.0", "torque_mmn = 250.0").replace(
            '"wheel/angle_rad"', '"wheel/angl_rad"'
        )
    )
    with pytest.raises(ConfigError) as caught:
        load(str(rig))
    told = str(caught.value)
    assert f"{rig}: blocks.flip.torque_mmn = 250.0: unknown key; did you mean 'torque_mnm'?" in told
    assert "blocks.flip.torque_mnm: missing" in told
    assert "did you mean 'wheel/angle_rad'" in told


def test_its_units_are_checked(rig):
    rig.write_text(RIG.replace('angle_rad = "wheel/angle_rad"', 'angle_rad = "wheel/rate_rad_s"'))
    with pytest.raises(ConfigError) as caught:
        load(str(rig))
    told = str(caught.value)
    assert "blocks.flip.reads.angle_rad = 'wheel/rate_rad_s'" in told
    assert "takes rad, and block 'wheel' writes the signal in rad/s" in told
    assert "wheel/angle_rad" in told


def test_a_rig_takes_the_kinds_that_it_names_alone(folder, monkeypatch):
    def all_of_them():
        raise AssertionError("every kind was imported")

    (folder / "flipper.py").write_text(FLIPPER)
    monkeypatch.setattr(catalogue, "kinds", all_of_them)
    data = tomllib.loads(RIG)
    blocks = rig_model_of(data).model_validate(data).blocks
    assert {name: block.kind for name, block in blocks.items()} == {
        name: table["kind"] for name, table in data["blocks"].items()
    }
    assert find_kind("sum").name == "sum"
    data["blocks"]["flip"]["kind"] = "relai"
    with pytest.raises(AssertionError, match="every kind"):
        rig_model_of(data)


@pytest.mark.parametrize("kind", ['["relay"]', "7", '"__init__"', '"../relay"'])
def test_a_kind_that_is_no_name_is_a_mistake(folder, kind):
    path = folder / "rig.toml"
    path.write_text(RIG.replace('kind = "flipper"', f"kind = {kind}"))
    with pytest.raises(ConfigError, match=r"blocks\.flip\.kind"):
        load(str(path))


def test_an_unknown_kind_names_the_near_ones(folder):
    path = folder / "rig.toml"
    path.write_text(RIG.replace('kind = "flipper"', 'kind = "relai"'))
    with pytest.raises(
        ConfigError, match=r"blocks\.flip\.kind = 'relai': unknown kind; did you mean 'relay'"
    ):
        load(str(path))


def test_two_kinds_of_one_name_are_refused(folder):
    (folder / "flipper.py").write_text(FLIPPER.replace("flipper", "relay"))
    with pytest.raises(KindError, match="there is a block kind 'relay' already"):
        kinds()


def test_a_schema_without_its_kind_is_refused(folder):
    (folder / "flipper.py").write_text(FLIPPER.replace('kind: Literal["flipper"]', "kind: str"))
    with pytest.raises(KindError, match=r"kind: Literal\['flipper'\]"):
        kinds()


def test_the_kinds_that_ship():
    shipped = "bus encoder_filter excitation guard mechanism observer relay two_stage_observer"
    assert set(shipped.split()) <= set(kinds())


def test_every_key_of_a_shipped_rig_stands_in_its_table():
    for kind in kinds().values():
        assert kind.about.strip().endswith(".")
        assert set(kind.schema.model_fields) >= {"kind", "reads", "writes"}


@pytest.mark.parametrize(
    ("kind", "reads", "writes", "optional"),
    [
        (guard_kind.KIND, guard.READS, guard.WRITES, guard.OPTIONAL),
        (
            filter_kind.KIND,
            encoder_filter.READ_PORTS,
            encoder_filter.WRITE_PORTS,
            encoder_filter.OPTIONAL_PORTS,
        ),
        (relay_kind.KIND, relay_kind.READS, relay_kind.WRITES, ()),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_ports_of_a_kind_are_those_of_its_step(kind, reads, writes, optional):
    ports = kind.ports({})
    assert set(ports.read_names) == set(reads)
    assert set(ports.write_names) == set(writes)
    assert {port.name for port in ports.reads if port.optional} == set(optional)


def test_every_port_of_the_shipped_rigs_has_a_sentence_and_a_unit_that_can_be_read():
    for name in ("steering_observer", "latency_bench"):
        for block in load(str(find_rig(name))).rig.blocks.values():
            for side in catalogue.ports_of(block.model_dump()):
                for port in side:
                    assert port.about.endswith("."), port
                    assert port.unit is None or units.parse(port.unit), port
