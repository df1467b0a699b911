"""Rows of equal bodies in a mechanism file."""

import pytest

from codegen.description.mechanism import MechanismError, parse

ROW = """
gravity_m_s2 = [0, -9.81, 0]
[repeat.row]
count = 3
before = { p_0 = [0, 0, 0] }
[repeat.row.point."p_{k}"]
position_m = ["0.1 * k", 0, 0]
moves = "xy"
[repeat.row.rigid_body."rod_{k}"]
points = ["p_{k-1}", "p_{k}"]
axis = [0, 0, 1]
mass_kg = 0.1
centre_m = ["0.1 * k - 0.05", 0, 0]
inertia_kg_m2 = 1e-4
[outputs]
"tip/x_m" = "p_3_x"
"""


def written_out():
    lines = ["gravity_m_s2 = [0, -9.81, 0]"]
    for k in (1, 2, 3):
        before = f'"p_{k - 1}"' if k > 1 else "[0, 0, 0]"
        lines += [
            f"[point.p_{k}]", f'position_m = ["0.1 * {k}", 0, 0]', 'moves = "xy"', f"[rigid_body.rod_{k}]",
            f'points = [{before}, "p_{k}"]', "axis = [0, 0, 1]", "mass_kg = 0.1",
            f'centre_m = ["0.1 * {k} - 0.05", 0, 0]', "inertia_kg_m2 = 1e-4",
        ]  # fmt: skip
    return "\n".join([*lines, "[outputs]", '"tip/x_m" = "p_3_x"'])


def test_a_row_is_the_mechanism_that_has_its_tables_written_out():
    row, plain = (parse(text, "row.toml").system for text in (ROW, written_out()))
    assert [(c.name, c.initial) for c in row.coordinates] == [
        (c.name, c.initial) for c in plain.coordinates
    ]
    assert [r.label for r in row.rows] == [r.label for r in plain.rows]
    assert [(p.path, p.default) for p in row.parameters] == [
        (p.path, p.default) for p in plain.parameters
    ]


@pytest.mark.parametrize(("old", "new", "told"), [
    ("count = 3", "count = 0", "repeat.row.count"),
    ("count = 3", "count = 1000000", "is more than 200000 links"),
    ("count = 3", "", "repeat.row.count"),
    ('before = { p_0 = [0, 0, 0] }', "before = 3", "repeat.row.before"),
    ('[repeat.row.point."p_{k}"]', '[repeat.row.point.p]', "is the same name each time"),
    ('[repeat.row.point."p_{k}"]', '[repeat.row.pint."p_{k}"]', "repeat.row.pint: is no table of elements"),
    ("[outputs]", "[point.p_2]\nposition_m = [1, 0, 0]\n[outputs]", "point.p_2: is in the file, too"),
    ("mass_kg = 0.1", "mass_kg = 0.1\nmas = 2", "rigid_body.rod_1.mas"),
    ("[repeat.row]", "[repeat]\nother = 3\n[repeat.row]", "repeat.other"),
])  # fmt: skip
def test_mistakes_of_a_row_are_named_once(old, new, told):
    with pytest.raises(MechanismError) as caught:
        parse(ROW.replace(old, new, 1), "row.toml")
    assert told in str(caught.value)
    assert "rod_3.mas" not in str(caught.value)


def test_a_reference_before_the_first_repetition_needs_to_be_said():
    with pytest.raises(MechanismError) as caught:
        parse(ROW.replace("before = { p_0 = [0, 0, 0] }", ""), "row.toml")
    assert "rigid_body.rod_1.points" in str(caught.value)
    assert "p_0" in str(caught.value)


def test_links_of_all_rows_are_counted_with_the_memory_that_they_take():
    bodies = "\n".join(
        f'[repeat.row.rigid_body."part{n}_{{k}}"]\npoints = ["p_{{k}}"]' for n in range(4)
    )
    text = ROW.replace("count = 3", "count = 100000").replace("[outputs]", f"{bodies}\n[outputs]")
    with pytest.raises(MechanismError) as caught:
        parse(text, "row.toml")
    assert "repeat.row.count = 100000: is more than 200000 links in all rows" in str(caught.value)
    assert "a kernel of 500000 links would take 0.3 GB" in str(caught.value)
