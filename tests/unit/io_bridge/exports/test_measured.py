"""Names that programming languages take, and one table of several times."""

import numpy as np

from io_bridge.exports.measured import Group, Measured, identifiers


def test_identifiers_are_never_taken_twice():
    long = "bus/" + "x" * 100
    paths = ["a/b", "a_b", "0/wkc", "é/ä", long, long + "y"]
    names = list(identifiers(paths).values())
    assert names[:2] == ["a_b", "a_b_2"]
    assert len(set(names)) == len(paths)
    assert all(name.isascii() and name.isidentifier() and len(name) <= 63 for name in names)


def group(name, t_ns, path):
    rows = np.zeros(len(t_ns), [("t_ns", "<i8"), (path, "<f8")])
    rows["t_ns"], rows[path] = t_ns, np.asarray(t_ns) * 10.0
    return Group(name, rows, (path,), ("rad",), 1)


def test_a_slower_signal_keeps_its_newest_value():
    groups = (group("fast", [0, 1, 2, 3, 4], "a"), group("slow", [1, 3], "b"))
    ((t_ns, values),) = Measured("x", groups, None, (), {}).joined()
    assert t_ns.tolist() == [0, 1, 2, 3, 4]
    assert values[:, 0].tolist() == [0, 10, 20, 30, 40]
    assert np.array_equal(values[:, 1], [np.nan, 10, 10, 30, 30], equal_nan=True)
