import pytest

from io_bridge.exchange.exchange import Exchange
from io_bridge.slaves.drive_config import DriveConfig


def test_ports_can_be_given_other_paths():
    block = Exchange([DriveConfig()], paths={"drive/torque_nm": "guard/torque_nm"})
    assert block.reads["drive/torque_nm"] == "guard/torque_nm"
    with pytest.raises(ValueError, match="no port drive/speed"):
        Exchange([DriveConfig()], paths={"drive/speed": "x"})


def test_all_mistakes_are_named_at_once():
    with pytest.raises(ValueError, match="must differ; budget_us = 0") as caught:
        Exchange([DriveConfig("a"), DriveConfig("a")], budget_us=0, bad_limit=0)
    assert "bad_limit = 0" in str(caught.value)
