"""A rig that is changed in its text: what is changed is, all else stays, comments too."""

import tomllib

import pytest

from rig_configs.load import shipped_rigs
from rig_configs.mistakes import ConfigError
from rigloop.compose.derived_rig import derived
from rigloop.compose.wiring import load


@pytest.mark.parametrize("name", shipped_rigs())
def test_a_rig_that_ships_changes_in_the_one_value_and_keeps_its_comments(name, tmp_path):
    loaded = load(name)
    task = next(iter(loaded.rig.tasks))

    def change(tables):
        tables["tasks"][task]["priority"] = 71

    found = derived(loaded, tmp_path, "changed", change)
    wanted = tomllib.loads(loaded.text)
    wanted["tasks"][task]["priority"] = 71
    assert tomllib.loads(found.text) == wanted
    assert found.path == tmp_path / f"{name}_changed.toml"
    assert [line for line in loaded.text.splitlines() if line.startswith("#")] == [
        line for line in found.text.splitlines() if line.startswith("#")
    ]


def test_tables_may_be_written_in_any_way(tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text(
        '# mine\ntitle = "free fall"  # of a rod\n'
        'tasks.simulation = { period_us = 1_000, blocks = ["model"] }\n'
        '[blocks]\nmodel = { kind = "mechanism", mechanism = "four_bar" }\n'
    )
    loaded = load(str(path))

    def change(tables):
        tables["tasks"]["simulation"]["period_us"] = 2000
        tables.setdefault("verdict", {})["max_nis"] = 5.0

    found = derived(loaded, tmp_path, "slow", change)
    assert found.rig.tasks["simulation"].period_us == 2000
    assert found.rig.verdict.max_nis == 5.0
    assert found.rig.blocks == loaded.rig.blocks
    assert "# of a rod" in found.text


def test_a_change_that_makes_no_rig_is_refused_with_the_key(tmp_path):
    def change(tables):
        tables["tasks"]["simulation"]["period_us"] = 7

    with pytest.raises(ConfigError, match="period_us"):
        derived(load("latency_bench"), tmp_path, "wrong", change)
