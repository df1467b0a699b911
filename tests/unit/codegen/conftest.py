"""Kernels and NumPy twins for tests, built once a session; exact inverse dynamics as the
independent reference.
"""

import functools

import numpy as np
import pytest
from mechanisms.written_rods import ROW

from codegen.kernels.build import build_kernel, load_reference
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets import numpy_module


@pytest.fixture(scope="session")
def kernel():
    """kernel(mechanism, **options): the compiled module, from the cache where it is there
    already.
    """

    @functools.cache
    def built(mechanism, **options):
        return build_kernel(mechanism, KernelOptions(**options)).module

    return built


@pytest.fixture(scope="session")
def twin(tmp_path_factory):
    """twin(mechanism, **options): the NumPy module."""

    @functools.cache
    def generated(mechanism, **options):
        path = tmp_path_factory.mktemp("twin") / "reference.py"
        path.write_text(numpy_module.text(program(mechanism, KernelOptions(**options))))
        return load_reference(path)

    return generated


@pytest.fixture
def row(tmp_path):
    """row(count, **changes): the file of a long row, each change a text and its replacement."""

    def written(count, **changes):
        text = ROW.replace("COUNT", str(count))
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "row.toml"
        path.write_text(text)
        return path

    return written


@pytest.fixture(scope="session")
def exact_reaction():
    """exact_reaction(twin, q, guide, held): guide reactions by dense inverse dynamics, no penalty,
    no integrator.
    """

    def solve(module, q, guide, held=()):
        q = np.array(q, dtype=float)
        guide = np.array(guide, dtype=float)
        for _ in range(8):
            q -= np.linalg.lstsq(module.phi_q(q), module.phi(q, guide))[0]
        jac = module.phi_q(q)
        qd = -np.linalg.lstsq(jac, module.phi_t(guide))[0]
        par = np.array([value for _, value in module.PARAMETERS])
        mass = module.mass(par)
        applied = module.force(q, qd, np.array(held), par, np.array(module.SIGNALS_0))
        n_phi = len(jac)
        block = np.block([[mass, jac.T], [jac, np.zeros((n_phi, n_phi))]])
        right = np.concatenate([applied, -module.gamma(q, qd, guide)])
        lam = np.linalg.solve(block, right)[len(q) :]
        return np.array([-lam[row] for row, _ in module.GUIDES])

    return solve
