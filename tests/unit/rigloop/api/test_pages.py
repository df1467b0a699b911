"""The examples of the pages and of the docstrings run, and are right."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[4] / "docs"
OFFLINE = re.compile(r"(?<!-->\n)^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_offline_examples_of_the_page_run():
    blocks = OFFLINE.findall((DOCS / "python.md").read_text())
    assert len(blocks) == 3
    exec("\n".join(blocks), {})


@pytest.mark.parametrize("name", ["mechanism", "observer", "align"])
def test_the_examples_of_the_docstrings_run(name):
    module = importlib.import_module(f"rigloop.api.{name}")
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted
    assert not result.failed
