"""Units of a kernel's ports are those of the quantities behind them, not of the names that a user gives."""

import pytest

from rig_configs.load import HERE
from rigloop.blocks.mechanisms import facts

COLUMN = (HERE / "mechanisms" / "steering_column.toml").read_text()


@pytest.fixture
def units(tmp_path):
    def take(outputs):
        text = COLUMN.replace('name = "steering_column"', "")
        text = text[: text.index("[outputs]")] + "[outputs]\n" + outputs
        path = tmp_path / "column.toml"
        path.write_text(text)
        facts.cache_clear()
        return {port.name: port.unit for side in facts(str(path)).ports for port in side}

    yield take
    facts.cache_clear()


def test_coordinates_energies_and_what_elements_show(units):
    found = units(
        'a_rad = "wheel"\nb_rad_s = "wheel.rate"\nc_rad_s2 = "wheel.acceleration"\n'
        'energy_j = "energy"\nd_nm = "friction.bearing.drag_nm"\n'
    )
    assert found["a_rad"] == "rad"
    assert found["b_rad_s"] == "rad/s"
    assert found["c_rad_s2"] == "rad/s^2"
    assert found["energy_j"] == "J"
    assert found["d_nm"] == "Nm"
    assert found["status"] == "1"
    assert found["input/force/motor/torque_nm"] == "Nm"


def test_an_expression_has_the_unit_that_its_name_says(units):
    found = units('half_rad = "= wheel / 2"\nhalf = "= wheel / 2"\n')
    assert found["half_rad"] == "rad"
    assert found["half"] is None


def test_guides_and_their_torque():
    found = {p.name: p.unit for side in facts("steering_26").ports for p in side}
    assert found["guide/wheel/position_rad"] == "rad"
    assert found["guide/wheel/acceleration_rad_s2"] == "rad/s^2"
    assert found["guide/torque_nm"] == "Nm"


def test_every_shipped_mechanism_has_units_that_agree_with_its_names():
    from rig_configs.units import of_name, same

    for path in sorted((HERE / "mechanisms").glob("*.toml")):
        for side in facts(path.stem).ports:
            for port in side:
                assert same(of_name(port.name), port.unit), (path.stem, port)
