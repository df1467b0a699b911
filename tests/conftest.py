"""Options and fixtures of the whole suite."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


@pytest.fixture
def update_golden(request):
    """Whether goldens are to be rewritten instead of compared."""
    return request.config.getoption("--update-golden")
