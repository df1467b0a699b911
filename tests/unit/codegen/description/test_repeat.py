"""A repeat stands for its tables, numbered; what cannot be meant is named."""

import pytest

from codegen.description.mechanism import MechanismError, parse

CHAIN = """
gravity_m_s2 = [0, -9.81, 0]
[point.P_1]
position_m = [0.1, 0, 0]
moves = "xy"
[uniform_rod.rod_1]
points = [[0, 0, 0], "P_1"]
mass_kg = 1.0
[constant_distance.d_1]
points = [[0, 0, 0], "P_1"]
[repeat.chain]
count = 3
[repeat.chain.point."P_{i+1}"]
position_m = ["0.1 * {i+1}", 0, 0]
moves = "xy"
[repeat.chain.uniform_rod."rod_{i+1}"]
points = ["P_{i}", "P_{i+1}"]
mass_kg = 1.0
[repeat.chain.constant_distance."d_{i+1}"]
points = ["P_{i}", "P_{i+1}"]
"""


def test_a_chain_of_equal_rods():
    system = parse(CHAIN, "chain.toml").system
    assert [c.name for c in system.coordinates] == [f"P_{k}_{a}" for k in range(1, 5) for a in "xy"]
    assert [c.initial for c in system.coordinates[::2]] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert [row.label for row in system.rows] == [f"constant_distance/d_{k}" for k in range(1, 5)]


@pytest.mark.parametrize(("was", "given", "key", "told"), [
    ("count = 3", "count = 0", "repeat.chain.count", "no number of parts"),
    ("count = 3", "count = 100001", "repeat.chain.count", "no number of parts"),
    ("count = 3", "count = true", "repeat.chain.count", "no number of parts"),
    ("count = 3", "", "repeat.chain.count", "no number of parts"),
    ('"P_{i+1}"]\nposition', '"P_x"]\nposition', "repeat.chain.point.P_x", "same name"),
    ('["P_{i}", "P_{i+1}"]\nmass', '["P_{k}", "P_{i+1}"]\nmass', "repeat.chain.uniform_rod.rod_{i+1}", "braces"),
    ('"P_{i+1}"]\nposition', '"P_{i}"]\nposition', "repeat.chain.point.P_{i}", "there already"),
    ('["P_{i}", "P_{i+1}"]\nmass', '["P_{i}", "P_{i+9}"]\nmass', "uniform_rod.rod_2.points", "unknown point"),
])  # fmt: skip
def test_a_wrong_repeat_is_named(was, given, key, told):
    assert was in CHAIN
    with pytest.raises(MechanismError) as caught:
        parse(CHAIN.replace(was, given), "chain.toml")
    assert any(m.key == key and told in str(m) for m in caught.value.mistakes), caught.value


def test_tables_without_end_are_refused():
    more = "".join(
        f'[repeat.more_{k}]\ncount = 100000\n[repeat.more_{k}.angle."a_{k}_{{i}}"]\n'
        for k in range(11)
    )
    with pytest.raises(MechanismError, match="1100009 tables, more than 1000000"):
        parse(CHAIN + more, "chain.toml")
