"""Options and fixtures of the whole suite."""

import os

import pytest

# processes that tests start import what is installed, not the checkout that pytest runs in
os.environ["PYTHONSAFEPATH"] = "1"
# small matrices: threads of the linear algebra library would only fight for the cores
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


@pytest.fixture
def update_golden(request):
    """Whether goldens are to be rewritten instead of compared."""
    return request.config.getoption("--update-golden")
