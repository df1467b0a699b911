"""The entries of a file, and what a step of its kernel costs."""

from codegen.description.entries import entries
from codegen.kernels.costs import operations


def test_entries_come_in_the_order_of_the_file_with_their_keys():
    found = entries("guided_rod")
    assert [w.title for w in found][:3] == ["point.P", "angle.rod", "constant_distance.rod"]
    assert found[0].entry.moves == "xy"


def test_costs_are_those_that_the_kernel_tells(kernel):
    counted = operations("guided_rod")
    assert counted == kernel("guided_rod").model_info()["operations"]
    assert counted["path_cycles"] > 100
