"""Lookup tables against NumPy's and SciPy's; a file of samples, played."""

import math

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from rig_configs.mistakes import ConfigError

NAN = math.nan


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


@pytest.mark.parametrize("n", [2, 3, 64, 1001])
def test_lookup_is_numpys_interpolation_with_its_ends_held(run, n):
    rng = np.random.default_rng(n)
    points, values = np.cumsum(rng.uniform(0.1, 1.0, n)), rng.normal(size=n)
    u = np.concatenate(
        [rng.uniform(points[0] - 1, points[-1] + 1, 500), points, [math.inf, -math.inf]]
    )
    got = run("lookup", u=u, points=points.tolist(), values=values.tolist())["y"]
    assert np.allclose(got, np.interp(u, points, values), rtol=0, atol=1e-12)
    assert same(got[500 : 500 + n], values)  # exact at the points


def test_lookup_of_no_number_is_none(run):
    assert same(run("lookup", u=[NAN, 0.5], points=[0, 1], values=[0, 2])["y"], [NAN, 1.0])


@pytest.mark.parametrize(
    ("points", "values", "words"),
    [
        ([0.0, 1.0, 1.0], [0.0, 1.0, 2.0], "number 2 is 1, the one before 1"),
        ([0.0, 2.0, 1.0], [0.0, 1.0, 2.0], "does not rise"),
        ([0.0, 1.0], [0.0, 1.0, 2.0], "has 3 numbers, and 2 of points ask for 2"),
        ([0.0], [0.0], "has 1 numbers, 2 to 100000 are allowed"),
    ],
)
def test_a_table_that_is_none_is_refused(run, points, values, words):
    with pytest.raises(ConfigError) as caught:
        run("lookup", u=[0.0], points=points, values=values)
    assert words in str(caught.value)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (5, 3), (20, 31)])
def test_lookup_2d_is_scipys_with_its_edges_held(run, n, m):
    rng = np.random.default_rng(n)
    us, vs = np.cumsum(rng.uniform(0.1, 1.0, n)), np.cumsum(rng.uniform(0.1, 1.0, m))
    values = rng.normal(size=(n, m))
    u, v = rng.uniform(us[0] - 1, us[-1] + 1, 500), rng.uniform(vs[0] - 1, vs[-1] + 1, 500)
    wanted = RegularGridInterpolator((us, vs), values)(
        np.column_stack([np.clip(u, us[0], us[-1]), np.clip(v, vs[0], vs[-1])])
    )
    table = {"u_points": us.tolist(), "v_points": vs.tolist(), "values": values.ravel().tolist()}
    assert np.allclose(run("lookup_2d", u=u, v=v, **table)["y"], wanted, rtol=0, atol=1e-12)


def test_lookup_2d_of_no_number_is_none_and_of_infinity_the_edge(run):
    table = {"u_points": [0, 1], "v_points": [0, 1], "values": [1, 2, 3, 4]}
    got = run("lookup_2d", u=[NAN, 0.0, math.inf, -math.inf], v=[0.0, NAN, math.inf, 0.5], **table)[
        "y"
    ]
    assert same(got, [NAN, NAN, 4.0, 1.5])


@pytest.mark.parametrize("n", [1, 3, 5])
def test_lookup_2d_wants_a_value_for_each_point(run, n):
    with pytest.raises(ConfigError, match=r"2 of u_points times 2 of v_points ask for 4"):
        run("lookup_2d", u=[0.0], v=[0.0], u_points=[0, 1], v_points=[0, 1], values=[1.0] * n)


@pytest.fixture
def samples(tmp_path):
    def write(text="time_s,note,value\n0.002,a,1\n0.004,b,3\n0.010,c,-1\n"):
        path = tmp_path / "samples.csv"
        path.write_text(text)
        return str(path)

    return write


def test_file_is_held_from_sample_to_sample(run, samples):
    got = run("file", 14, samples=samples())["y"]
    assert same(got, [1, 1, 1, 1, 3, 3, 3, 3, 3, 3, -1, -1, -1, -1])


def test_file_on_straight_lines_is_numpys_interpolation(run, samples):
    got = run("file", 40, samples=samples(), between="linear", period_us=500)["y"]
    wanted = np.interp(np.arange(40) * 0.0005, [0.002, 0.004, 0.010], [1.0, 3.0, -1.0])
    assert np.allclose(got, wanted, rtol=0, atol=1e-14)


def test_file_ends_at_zero_or_starts_again(run, samples):
    assert same(run("file", 13, samples=samples(), after="zero")["y"][9:], [3, -1, 0, 0])
    got = run("file", 100, samples=samples(), after="repeat", between="linear")["y"]
    t = np.arange(100) * 1e-3
    t = np.where(t > 0.010, 0.002 + (t - 0.002) % 0.008, t)
    # where the last sample meets the first, rounding decides which of the two is seen
    apart = ~np.isclose((t - 0.002) % 0.008, 0.0, atol=1e-9) & ~np.isclose(
        (t - 0.002) % 0.008, 0.008, atol=1e-9
    )
    assert np.allclose(
        got[apart], np.interp(t, [0.002, 0.004, 0.010], [1.0, 3.0, -1.0])[apart], atol=1e-12
    )


def test_file_over_holes_and_back(run, samples):
    got = run("file", 4, samples=samples(), cycles=[0, 9, 10, 5_000_000], after="repeat")["y"]
    assert set(got) <= {1.0, 3.0, -1.0}
    assert same(got[:3], [1, 3, -1])


def test_one_sample_is_a_constant(run, samples):
    assert same(
        run("file", 3, samples=samples("time_s,value\n0,4\n"), after="repeat")["y"], [4, 4, 4]
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no column time_s, value"),
        ("time_s,value\n", "has no row"),
        ("t,value\n0,1\n", "has no column time_s"),
        ("time_s,value\n0,1\n1\n", "line 3 has no number in column 2"),
        ("time_s,value\n0,one\n", "line 2 has no number"),
        ("time_s,value\n0,nan\n", "line 2: nan is not a finite number"),
        ("time_s,value\n0,1e300\n", "beyond the limit"),
        ("time_s,value\n0,1\n0,2\n", "column time_s does not rise"),
        ('time_s,value\n"' + "x" * 200_000 + '",1\n', "is not a CSV file"),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(run, samples, text, words):
    with pytest.raises(ConfigError, match=r"samples") as caught:
        run("file", 1, samples=samples(text))
    assert words in str(caught.value)


def test_a_file_that_is_not_there_is_refused(run, tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        run("file", 1, samples=str(tmp_path / "none.csv"))


def test_a_file_of_another_ending_is_refused_for_no_run_would_keep_it(run, tmp_path):
    path = tmp_path / "samples.txt"
    path.write_text("time_s,value\n0,4\n")
    with pytest.raises(ConfigError, match=r"has no name that ends in \.csv"):
        run("file", 1, samples=str(path))
