"""Seqlock, ring and hand-over of the sources between two threads, with delays: no wrong value in 0.1 s."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import stress


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not shutil.which("gcc"):
        pytest.skip("gcc is missing: apt-get install gcc")
    return stress.build(tmp_path_factory.mktemp("stress"))


@pytest.mark.parametrize("pair", stress.PAIRS)
def test_two_threads_never_see_a_wrong_value(program, pair):
    good, said = stress.run(program, pair, 0.1)
    assert good, said
