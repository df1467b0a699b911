"""Large irregular mechanisms: loops over index tables step as straight text does, and text stays
short.
"""

import random
import re
import subprocess

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.expressions.dag import Graph, evaluate
from codegen.expressions.emit import Assign
from codegen.expressions.gather import Gatherer, by_level
from codegen.kernels.build import build_kernel, load_reference
from codegen.kernels.generate import generate, program, write
from codegen.options.options import KernelOptions
from codegen.targets.cython_kernel import texts


def net(columns, rows):
    """Rods in cells that hang from a corner, masses and spring rates all different: as many shapes
    of columns in the factor as there are places in the net.
    """
    made = MechanismBuilder(f"net_{columns}_{rows}", gravity_m_s2=(0, -9.81, 0))

    def at(i, j):
        return (0, rows, 0) if (i, j) == (0, rows) else f"P{i}_{j}"

    for i in range(columns + 1):
        for j in range(rows + 1):
            if (i, j) != (0, rows):
                made.point(at(i, j), position_m=(i, j, 0), moves="xy")
                made.mass(f"m{i}_{j}", point=at(i, j), mass_kg=0.2 + 0.01 * ((7 * i + 3 * j) % 5))
    for i in range(columns + 1):
        for j in range(rows + 1):
            if i < columns:
                made.constant_distance(f"h{i}_{j}", points=[at(i, j), at(i + 1, j)])
            if j < rows:
                made.constant_distance(f"v{i}_{j}", points=[at(i, j), at(i, j + 1)])
    made.spring_between(
        "brace", points=[(0, rows, 0), at(columns, 0)], stiffness_n_per_m=40.0, rest_m=float(rows)
    )
    return made.output("x_m", f"P{columns}_0_x").output("brace_n", "spring_between.brace.pull_n")


def tree(bodies, seed=5):
    """Spatial bodies that hang from each other at random, each with its own points and directions."""
    chance = random.Random(seed)
    made = MechanismBuilder(f"tree_{bodies}", gravity_m_s2=(0, 0, -9.81))
    ends = [((0.0, 0.0, 0.0), "ground")]
    for k in range(bodies):
        at, parent = ends[chance.randrange(max(0, len(ends) - 4), len(ends))]
        way = np.array([chance.uniform(-1.0, 1.0) for _ in range(3)])
        way *= 0.3 / np.linalg.norm(way)
        tip = tuple(float(v) for v in np.round(np.add(at, way), 3))
        across = np.cross(way, [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        third = np.cross(way / np.linalg.norm(way), across)
        made.point(f"P{k}", position_m=at).point(f"T{k}", position_m=tip)
        made.unit_vector(f"u{k}", direction=tuple(map(float, across)))
        made.unit_vector(f"v{k}", direction=tuple(map(float, third)))
        mass = round(chance.uniform(0.5, 1.5), 3)
        made.rigid_body(
            f"B{k}",
            points=[f"P{k}", f"T{k}"],
            vectors=[f"u{k}", f"v{k}"],
            mass_kg=mass,
            centre_m=tuple(float(v) for v in np.add(at, tip) / 2),
            inertia_kg_m2=(0.01 * mass, 0.011 * mass, 0.012 * mass),
        )
        if chance.random() < 0.5:
            made.spherical(f"j{k}", bodies=[f"B{k}", parent], point_m=at)
        else:
            axis = chance.choice([(1, 0, 0), (0, 1, 0), (0, 0, 1)])
            made.revolute(f"j{k}", bodies=[f"B{k}", parent], point_m=at, axis=axis)
        ends.append((tip, f"B{k}"))
    return made.output("z_m", f"T{bodies - 1}_z")


def functions(source):
    """Lines of each function of a C source, without the static tables."""
    found, name = {}, ""
    for line in source.splitlines():
        head = re.match(r"[^\s#].*?(\w+)\(.*\)$", line)
        if head:
            name = head[1]
            found[name] = 0
        elif name:
            found[name] += 1
        if line == "}":
            name = ""
    return found


@pytest.fixture
def all_in_tables(monkeypatch):
    """From here on every mechanism is large, and every routine long."""

    def begin():
        monkeypatch.setattr("codegen.equations.equations.LARGE", 4)
        monkeypatch.setattr("codegen.targets.loops.LONG", 0)
        monkeypatch.setattr("codegen.targets.loops.LINES", 30)

    return begin


@pytest.mark.parametrize(
    ("made", "formulation"),
    [(net(3, 2), "ali3p"), (tree(3), "index1")],
    ids=["net", "tree"],
)
@pytest.mark.slow
def test_tables_step_as_straight_text_does(tmp_path, all_in_tables, made, formulation):
    path = made.save(tmp_path)
    options = {"formulation": formulation}
    straight = build_kernel(path, KernelOptions(**options)).module.Kernel()
    all_in_tables()
    # other options give the looped kernel a place of its own in the cache
    looped = build_kernel(path, KernelOptions(cflags=("-DTABLED",), **options)).module.Kernel()
    for stepper in (straight, looped):
        stepper.reset()
        for _ in range(100):
            assert stepper.step() == 0
    # the same sums in another order, seen through a leading matrix conditioned like kappa
    np.testing.assert_allclose(looped.q, straight.q, atol=1e-9)
    np.testing.assert_allclose(
        list(looped.outputs.values()), list(straight.outputs.values()), rtol=1e-6, atol=1e-9
    )


@pytest.mark.slow
def test_tables_take_about_the_operations_of_straight_text(tmp_path, all_in_tables):
    def slots():
        head = generate(path, KernelOptions()).files["kernel.h"].split("one step: ")[1]
        return int(head.split()[0])

    path = net(3, 3).save(tmp_path)
    straight = slots()
    all_in_tables()
    # a column's square is not shared, and a sum begins with zero
    assert straight < slots() < 1.3 * straight


@pytest.mark.slow
def test_a_large_irregular_mechanism_steps_as_its_twin(tmp_path):
    built = build_kernel(net(5, 5).save(tmp_path), KernelOptions())
    fast, slow = built.module.Kernel(), load_reference(built.path).Kernel()
    fast.reset()
    slow.reset()
    assert "for (int stage" in built.path.with_name("kernel.c").read_text()
    for _ in range(20):
        assert fast.step() == 0
        slow.step()
    # as codegen.kernels.verify: the twin's dense solve is conditioned like kappa
    np.testing.assert_allclose(fast.q, slow.q, atol=1e-9)


@pytest.mark.parametrize(
    ("small", "large"), [(net(5, 5), net(7, 7)), (tree(10), tree(17))], ids=["net", "tree"]
)
@pytest.mark.slow
def test_text_of_an_irregular_mechanism_is_bounded(tmp_path, small, large):
    sizes = []
    for made in (small, large):
        files = texts(program(made.save(tmp_path), KernelOptions()))
        sizes.append(functions(files["kernel.c"]))
    for found in sizes:
        assert max(found.values()) < 900
        assert found["factorise"] < 200
        assert found["solve"] < 200
    # twice the mechanism, and what is straight text until it is long
    assert sum(sizes[1].values()) < 1.4 * sum(sizes[0].values()) + 600


@pytest.mark.slow
def test_generated_tables_are_reproducible(tmp_path):
    path = net(5, 5).save(tmp_path)
    assert generate(path, KernelOptions()) == generate(path, KernelOptions())


@pytest.mark.parametrize("seed", range(4))
def test_gathers_compute_what_the_expressions_say(seed):
    chance = random.Random(seed)
    graph = Graph()
    given = [graph.var(f"a {n}") for n in range(6)]
    stored = [graph.var(f"b {n}") for n in range(12)]
    bind = {e: f"a[{n}]" for n, e in enumerate(given)} | {
        e: f"b[{n}]" for n, e in enumerate(stored)
    }
    pool = list(given)
    assigns = []
    for n in range(12):
        # earlier results as they are, and through what is stored
        for _ in range(4):
            one, other = chance.choice(pool), chance.choice(pool)
            pool.append(
                chance.choice(
                    [
                        one * other,
                        one - 2.0 * other,
                        one + other * one,
                        graph.reciprocal(one * one + 1.0),
                        3.0 * one + 0.25,
                    ]
                )
            )
        assigns.append(Assign(f"b[{n}]", pool[-1]))
        pool.append(stored[n])
    found = Gatherer(assigns, bind, {}, {})
    assert not found.rest
    values = {f"a {n}": chance.uniform(0.5, 1.5) for n in range(6)}
    exact = dict(values)
    for n, assign in enumerate(assigns):
        exact[f"b {n}"] = evaluate(assign.expr, exact)
    for gathers in (found.made, by_level(found.made)):
        cells = {("a", n): values[f"a {n}"] for n in range(6)}
        for gather in gathers:
            total = sum(
                coef * np.prod([cells[cell] for cell in read]) for coef, read in gather.terms
            )
            cells[gather.target] = 1.0 / total if gather.is_inverse else total
        got = [cells["b", n] for n in range(12)]
        np.testing.assert_allclose(got, [exact[f"b {n}"] for n in range(12)], rtol=1e-9)


def test_functions_and_choices_are_left_to_straight_text():
    graph = Graph()
    x = graph.var("x")
    assigns = [Assign("y[0]", graph.call("sqrt", x)), Assign("y[1]", 2.0 * x)]
    found = Gatherer(assigns, {x: "x[0]"}, {}, {})
    assert found.rest == assigns[:1]
    assert [gather.target for gather in found.made] == [("y", 1)]


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.slow
def test_strict_compilers_take_a_large_mechanism(tmp_path, precision):
    made = tree(10)
    options = KernelOptions(precision=precision)
    write(made.save(tmp_path), "c99", tmp_path, options)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O0"]
    command = ["gcc", *strict, "-c", f"{made.name}.c", "-o", "out.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
