"""The overall transfer equation from the graph alone: block by block as published, and what holds of any tree."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from codegen.transfer import shown
from codegen.transfer.equation import equations
from codegen.transfer.network import network

TREES = st.lists(st.integers(0, 10**6), min_size=0, max_size=14).map(
    lambda draws: [-1] + [n % (k + 2) - 1 for k, n in enumerate(draws)]
)


def of(parents, names):
    made = equations(parents, names, [f"to {name}" for name in names], ["turn"] * len(names))
    return made[0] if len(made) == 1 else made


def blocks(made):
    """Text of each block, by row and column."""
    lines = shown.lines(made)[2:]
    found, row = {}, -1
    for line in lines:
        if line.startswith("row"):
            row, column = row + 1, 0
            continue
        found[row, column] = line.split("   z[")[0].strip()
        column += 1
    return found


def test_the_branch_example_of_the_riccati_paper_block_by_block():
    made = of([-1, 0, 0, 2], ["7", "1", "5", "3"])
    # bodies 1, 3, 5, 7, hinge 4 and the multi-hinge 8 have their published numbers
    assert [(e.number, e.name) for e in made.elements if e.kind in ("body", "inputs")] == [
        (1, "1"), (3, "3"), (5, "5"), (7, "7")
    ]  # fmt: skip
    assert blocks(made) == {
        (0, 0): "-I",
        (0, 1): "U[7,I1-I2] U[8,I1] U[1]",
        (0, 2): "U[7,I1-I2] U[8,I2] U[5] U[4] U[3]",
        (1, 0): "0",
        (1, 1): "H[O1,I2] U[8,I1] U[1]",
        (1, 2): "(H[O1,I2] U[8,I2] - H[a,m]) U[5] U[4] U[3]",
    }
    assert shown.lines(made)[1] == "z_all = [z[7,O]; z[1,I]; z[3,I]]"


def test_the_five_body_example_of_the_deduction_paper_block_by_block():
    # body 12 hangs on the ground, 10 on it, 4, 5 and 6 on that; hinge 11, and 7 to 9 as one element
    made = of([-1, 0, 1, 1, 1], ["12", "10", "4", "5", "6"])
    number = {e.name: e.number for e in made.elements if e.kind in ("body", "inputs")}
    (joints,) = (e.number for e in made.elements if e.kind == "joints")
    (eleven,) = (e.number for e in made.elements if e.kind == "joint" and e.name == "to 10")
    way = f"U[{number['12']}] U[{eleven}] U[{number['10']},I1-I3]"
    expected = {(0, 0): "-I", (1, 0): "0", (2, 0): "0"}
    for column, tip in enumerate(("4", "5", "6"), 1):
        through = f"U[{joints},I{column}]"
        expected[0, column] = f"{way} {through} U[{number[tip]}]"
        for row in (1, 2):
            term = f"H[O1,I{row + 1}] {through}"
            term = f"({term} - H[a,m])" if column == row + 1 else term
            expected[row, column] = f"{term} U[{number[tip]}]"
    assert blocks(made) == expected


def test_latex_has_the_same_blocks():
    made = shown.latex(of([-1, 0, 0, 2], ["7", "1", "5", "3"]))
    assert made.count("&") == 4
    assert r"-\mathbf{I} & \mathbf{U}_{7,I_1-I_2} \hat{\mathbf{U}}_{8,I_1} \mathbf{U}_{1}" in made
    assert r"\mathbf{0} & \mathbf{H}_{O_1,I_2} \hat{\mathbf{U}}_{8,I_1} \mathbf{U}_{1}" in made
    assert made.count("{") == made.count("}")


def test_a_long_product_is_cut_in_the_middle():
    made = of(list(range(-1, 19)), [str(k) for k in range(20)])
    assert blocks(made)[0, 1] == "U[39] U[38] U[37] U[36] ... U[4] U[3] U[2] U[1]"


@given(TREES)
def test_of_any_tree_every_way_leads_from_its_tip_to_the_root(parents):
    names = [str(k) for k in range(len(parents))]
    made = equations(parents, names, names, ["turn"] * len(names))
    found = network(parents)
    assert sum(len(each.tips) for each in made) == len(found.tips)
    assert sorted(link for chain in found.chains for link in chain.links) == list(
        range(len(parents))
    )
    for each in made:
        joined = sum(e.count - 1 for e in each.elements if e.kind == "inputs")
        assert len(each.rows) == 1 + joined
        assert len(each.tips) == 1 + joined
        assert [e.number for e in each.elements] == list(range(1, len(each.elements) + 1))
        for column, tip in enumerate(each.tips, 1):
            (term,) = each.blocks[0, column]
            way = [f.element for f in term.factors]
            assert way[0] == each.root
            assert way[-1] == tip
            bodies = [int(e.name) for e in reversed(way) if e.kind in ("body", "inputs")]
            assert all(parents[a] == b for a, b in pairwise(bodies))
            assert parents[bodies[-1]] == -1
