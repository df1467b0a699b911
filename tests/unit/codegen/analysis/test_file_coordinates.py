"""The file's coordinates from those of the joints: places as a kernel's own outputs have them."""

import numpy as np
import pytest

from codegen.analysis.file_coordinates import FileCoordinates
from codegen.description.mechanism import load
from codegen.expressions.dag import evaluate
from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "formulation"),
    [("desk_arm", "articulated"), ("governor", "semi_recursive"), ("five_bar", "particles")],
)
def test_places_are_those_that_the_kernel_shows(name, formulation):
    mechanism = load(name)
    system = mechanism.system
    module = build_kernel(name, KernelOptions(formulation=formulation)).module
    kernel = module.Kernel()
    guide = [x for g in system.guides for x in (g.coordinate.initial, 0.0, 0.0)]
    assert kernel.reset(*guide) == 0
    for _ in range(50):
        assert kernel.step(*guide) == 0
    names = [name for name, _ in module.model_info()["coordinates"]]
    q = FileCoordinates(system, names).at(kernel.q)
    assert len(q) == len(system.coordinates) != len(kernel.q)
    at = {c.q.name: float(v) for c, v in zip(system.coordinates, q, strict=True)}
    at |= {p.var.name: p.default for p in system.parameters}
    shown = [o for o in mechanism.outputs if o.kind == "value" or o.port.startswith("tool/")]
    assert shown
    for output in shown:
        exact = (
            q[output.index] if output.kind == "value" else evaluate(system.values[output.path], at)
        )
        # angles and distances as they are, places by two ways of the same sums
        assert kernel.outputs[output.port] == pytest.approx(exact, abs=1e-12)


def test_a_kernel_of_the_file_s_own_coordinates_is_taken_as_it_is():
    system = load("four_bar").system
    q = np.arange(len(system.coordinates), dtype=float)
    assert np.array_equal(FileCoordinates(system, [c.name for c in system.coordinates]).at(q), q)
