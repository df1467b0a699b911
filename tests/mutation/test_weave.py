"""One build holds every change, and the number in the environment chooses one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from builds import build
from places import find_mutations
from weave import VARIABLE, weave, wrong_lines

TEXT = '''\
"""Doc."""
from libc.math cimport fabs

cdef int count(const double *x, int n,
               double least) noexcept nogil:
    cdef int found = 0
    cdef int i = 0
    while not i >= n:
        if (fabs(x[i]) > least
                or i == 2):     # a comment
            found += 1
        elif n == 7: found = 7
        i += 1
    return (found
            + 0)


def call(values, least):
    cdef double[4] x
    for i in range(1, 4):
        x[i] = values[i]
    x[0] = values[0]
    return count(x, 4, least)
'''
CALLS = [([1.0, -3.0, 0.0, 2.0], 1.0), ([0.0] * 4, 0.5), ([9.0] * 4, 2.0)]
RUN = """
import json, sys
from tests_of_weave import call
print(json.dumps([call(*arguments) for arguments in json.loads(sys.argv[1])]))
"""


def results(environment, number=None):
    chosen = {} if number is None else {VARIABLE: str(number)}
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(CALLS)],
        env=environment | chosen,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_each_number_acts_as_its_change_and_none_as_the_source(tmp_path):
    mutations = find_mutations(TEXT)
    woven = weave(TEXT, mutations)
    name = "tests_of_weave.pyx"
    (tmp_path / name).write_text(woven.text)
    environment = build(tmp_path, name, woven.text, (name,))
    assert results(environment) == [3, 1, 4]
    # what `for` and a body on the line of its condition have is not in it
    lines = TEXT.splitlines()
    apart = set(mutations) - set(woven.numbers)
    assert {lines[m.line - 1].split()[0] for m in apart} == {"elif", "for"}
    numbers = {(m.line, m.old, m.new): k for m, k in woven.numbers.items()}
    for change, expected in {
        (6, "0", "1"): [4, 2, 5],
        (7, "0", "1"): [3, 1, 3],
        (9, ">", ">="): [4, 1, 4],
        (10, "or", "and"): [0, 0, 1],
        (10, "==", "!="): [3, 3, 4],
        (11, "+=", "-="): [-3, -1, -4],
        (11, "found += 1", "pass"): [0, 0, 0],
        (15, "0", "1"): [4, 2, 5],
    }.items():
        assert results(environment, numbers[change]) == expected, change


def test_a_change_that_does_not_compile_is_found_by_the_line_of_the_woven_source():
    woven = weave(TEXT, find_mutations(TEXT))
    lines = woven.text.splitlines()
    for words, line in (("- 0)", 15), ("not i > n", 8), ("found -= 1", 11), ("5, least", 23)):
        at = next(n for n, text in enumerate(lines, 1) if words in text)
        assert wrong_lines(woven, f"a.pyx:{at}:7: not allowed") == {line}
    assert wrong_lines(woven, "no line") == set()
