import json

import pytest
from typer.testing import CliRunner

from io_bridge.emulator.catalogue.device_file import shipped
from io_bridge.emulator.quirks.catalogue import quirks
from rigloop.cli import app


def call(*arguments):
    return CliRunner().invoke(app, ["sim-segment", *map(str, arguments)])


def test_the_devices_that_ship_are_listed_with_their_titles():
    done = call("--list")
    assert done.exit_code == 0
    for name in shipped():
        assert name in done.stdout
    titles = json.loads(call("--list", "--json").stdout)
    assert set(titles) == set(shipped()) | {f"+{name}" for name in quirks()}
    assert all(title.endswith(".") for title in titles.values())


def test_help_and_list_name_every_quirk_and_how_it_is_asked_for():
    said, listed = call("--help").stdout, call("--list").stdout
    assert "direct_drive+late_reply:ms=" in said
    for name, quirk in quirks().items():
        assert f"+{name}" in said
        assert f"+{name}" in listed
        assert all(key in listed for key in quirk.OPTIONS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("direct_drive",), "--interface is missing"),
        (
            ("--interface", "nosuch0", "--second-interface", "nosuch0", "direct_drive"),
            "--second-interface nosuch0: is the first one too",
        ),
        (("--interface", "nosuch0", "toaster"), "toaster: no device file"),
        (
            ("--interface", "nosuch0", "direct_drive+late_replies"),
            "quirk 'late_replies': there is none; did you mean late_reply",
        ),
        (("--interface", "nosuch0", "digital_io"), "slave 0 (DigitalIo): nobody before it"),
        (
            ("--interface", "nosuch0", "direct_drive", "--shaft", "0:1"),
            "--shaft 0:1: two positions",
        ),
        (
            ("--interface", "nosuch0", "direct_drive", "direct_drive", "--shaft", "0:1"),
            'hands = "free" is needed',
        ),
    ],
)
def test_wrong_input_is_told_with_exit_code_2(arguments, message):
    done = call(*arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_every_mistake_of_a_device_file_has_a_line(tmp_path):
    path = tmp_path / "device.toml"
    path.write_text('kind = "toaster"\ncolour = 1\n')
    done = call("--interface", "nosuch0", path, "--json")
    assert done.exit_code == 2
    answer = json.loads(done.stdout)
    assert answer["exit_code"] == 2
    assert len(answer["mistakes"]) >= 3
    assert all(str(path) in line for line in answer["mistakes"])


def test_an_interface_that_cannot_be_had_is_told_with_exit_code_3():
    done = call("--interface", "nosuch0", "direct_drive")
    assert done.exit_code == 3
    assert "nosuch0" in done.output


def test_devices_are_written_as_an_esi_that_serves_them_again(tmp_path):
    path = tmp_path / "rack.xml"
    assert call("--write-esi", path, "ek_coupler", "digital_io").exit_code == 0
    again = call("--write-esi", path, "ek_coupler")
    assert again.exit_code == 2
    assert "is there already" in again.output
    # as far as the interface, which is not there
    done = call("--interface", "nosuch0", f"{path}#0x00EC1100", f"{path}#0x00D10808:1")
    assert done.exit_code == 3


def test_every_mistake_of_an_esi_has_a_line(tmp_path):
    path = tmp_path / "bad.xml"
    assert call("--write-esi", path, "direct_drive").exit_code == 0
    text = path.read_text().replace('Physics="YY"', 'Physics="ZZ"').replace("#x6040", "6040h")
    path.write_text(text)
    done = call("--interface", "nosuch0", path, "--json")
    assert done.exit_code == 2
    mistakes = json.loads(done.stdout)["mistakes"]
    assert len(mistakes) >= 3
    assert all(line.startswith(f"{path}:") for line in mistakes)
