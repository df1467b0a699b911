import pytest

from io_bridge.drive_config import DrivePlant
from io_bridge.sim_segment import load_plant, main


def test_a_plant_is_read_from_json(tmp_path):
    path = tmp_path / "plant.json"
    path.write_text('{"hands": "free", "inertia_kg_m2": 0.1}')
    assert load_plant(path) == DrivePlant(hands="free", inertia_kg_m2=0.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting"),
        ("[1]", "no object"),
        ('{"mass": 1}', "mass; known are amplitude_rad"),
        ('{"inertia_kg_m2": -1}', "inertia_kg_m2 = -1"),
    ],
)
def test_a_wrong_plant_file_ends_with_one_line_and_status_2(tmp_path, capsys, text, message):
    path = tmp_path / "plant.json"
    path.write_text(text)
    assert main(["--interface", "nosuch0", "--plant", str(path)]) == 2
    said = capsys.readouterr().err
    assert str(path) in said
    assert message in said
    assert len(said.splitlines()) == 1
