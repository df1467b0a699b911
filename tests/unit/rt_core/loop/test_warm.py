"""The pages that a spin touches, and that touching them changes nothing."""

import ctypes

import numpy as np
import pytest

from rt_core.injection.delays import PageBlock
from rt_core.loop.loop import Loop
from rt_core.loop.warm import code_pages, mappings, sorted_by_rights
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

PAGE = 4096


def test_the_code_of_a_function_is_that_of_its_file():
    maps = mappings()
    address = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value
    (home,) = [path for begin, end, _, path in maps if begin <= address < end]
    pages = code_pages(maps, address)
    assert 1 <= len(pages) <= 128
    assert min(abs(page - address) for page in pages) < PAGE
    for page in pages:
        (found,) = [(path, rights) for begin, end, rights, path in maps if begin <= page < end]
        assert found[0] == home
        assert found[1].startswith("r")


@pytest.mark.parametrize(
    ("maps", "address"),
    [
        ([], 100),
        ([(0, 8192, "rw-p", "")], 100),  # memory of no file: nobody knows what it is
        ([(8192, 16384, "r-xp", "/a")], 100),
        ([(0, 8192, "---p", "/a")], 100),
    ],
)
def test_what_is_no_code_of_a_file_gives_no_pages(maps, address):
    assert code_pages(maps, address) == []


def test_no_more_than_the_pages_nearest_to_a_function_are_taken():
    maps = [(0, 1000 * PAGE, "r-xp", "/a")]
    pages = code_pages(maps, 500 * PAGE + 12)
    assert len(pages) == 128
    assert max(abs(page - 500 * PAGE) for page in pages) <= 65 * PAGE


def test_what_a_block_says_of_its_memory_is_checked():
    maps = [
        (PAGE, 3 * PAGE, "rw-p", ""),
        (3 * PAGE, 4 * PAGE, "r--p", "/a"),
        (9 * PAGE, 10 * PAGE, "---p", ""),
    ]
    write = {0, PAGE, 2 * PAGE, 3 * PAGE, 4 * PAGE, 9 * PAGE}
    assert sorted_by_rights(maps, write, {3 * PAGE, 2 * PAGE}) == ([PAGE, 2 * PAGE], [3 * PAGE])
    assert sorted_by_rights(maps, set(), {2 * PAGE}) == ([], [2 * PAGE])
    assert sorted_by_rights([], write, set()) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize(("warm", "touched_first"), [(True, False), (False, False), (True, True)])
@pytest.mark.parametrize("pages", [3, 1500])
def test_touching_changes_nothing(tmp_path, warm, pages, touched_first):
    # more pages than one spin takes are touched in turn
    block = PageBlock("p", pages, touched_first=touched_first)
    task = Task("t", [block], 2_000_000, spin_ns=1_000_000, warm_touch=warm)
    plan = plan_table([task])
    with SignalTable.create(str(tmp_path / "table"), plan) as table:
        reader = RingReader(table, "t")
        with Loop(plan, table) as loop:
            loop.wait(0.2)
        rows = reader.drain()
        reader.close()
    assert len(rows) > 3
    # the block counts in its own pages what it did: nothing of it is lost
    assert np.array_equal(rows["p/done"], np.arange(1, len(rows) + 1))
    assert np.array_equal(rows["loop/t/cycle"], np.arange(1, len(rows) + 1))
