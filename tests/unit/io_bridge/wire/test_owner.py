"""What others are told of the owner of a wire."""

import socket

import pytest

from io_bridge.wire import owner as wire_owner
from io_bridge.wire.owner import WireOwner, introduce, owner_words


@pytest.mark.parametrize("folders", [1, 60])
def test_kind_and_run_of_an_owner_are_said_however_long_its_path_is(folders, monkeypatch):
    monkeypatch.setattr(wire_owner, "_purpose", [""])
    introduce("rigloop run, /runs/" + "long/" * folders + "steering-1")
    with WireOwner("lo"):
        said = owner_words(socket.if_nametoindex("lo"))
    assert said.startswith("rigloop run, ")
    assert "steering-1 (process " in said


def test_an_interface_that_is_not_there_is_named_beside_those_that_are():
    with pytest.raises(OSError, match=r"interface 'nothing0': No such device; there are .*\blo\b"):
        WireOwner("nothing0").__enter__()
