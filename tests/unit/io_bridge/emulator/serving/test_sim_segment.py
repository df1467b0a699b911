import pytest

from io_bridge.emulator.catalogue.device_file import drive_text
from io_bridge.emulator.serving.sim_segment import main
from io_bridge.slaves.drive_config import DrivePlant

DRIVE = drive_text(DrivePlant())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind", "Expected '='"),
        (DRIVE + "mass = 1\n", "mass unknown; known are amplitude_rad"),
        (drive_text(DrivePlant()).replace("0.06", "-1.0"), "inertia_kg_m2 = -1.0"),
    ],
)
def test_a_wrong_device_file_ends_with_one_line_and_status_2(tmp_path, capsys, text, message):
    path = tmp_path / "drive.toml"
    path.write_text(text)
    assert main(["--interface", "nosuch0", str(path)]) == 2
    said = capsys.readouterr().err
    assert str(path) in said
    assert message in said
    assert len(said.splitlines()) == 1


def test_a_witness_without_a_drive_is_refused(tmp_path, capsys):
    arguments = ["--interface", "nosuch0", "--witness", str(tmp_path / "seen.json"), "ek_coupler"]
    assert main(arguments) == 2
    assert "--witness: there is no drive" in capsys.readouterr().err
