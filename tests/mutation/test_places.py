"""The mutation run changes what computes, and leaves alone what only declares or explains."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import c_places
import kinds
from builds import module_name
from places import apply_mutation, find_mutations, name_mutations
from targets import ROOT, TARGETS, missing

TEXT = '''\
"""a < b and c"""
from libc.math cimport fabs
cdef struct Limits:
    double *a
    int n
cdef int step(const double *x, int n) noexcept nogil:
    # a < b
    cdef int k = <int> x[0] + 1
    if not (k < n) and n >= 2:
        x[0] = -min(k, n)
    return k
'''


def changes(text):
    return {(m.line, m.kind, m.old, m.new) for m in find_mutations(text)}


def test_comparisons_words_numbers_signs_and_statements_are_changed():
    assert changes(TEXT) == {
        (8, "swap", "+", "-"),
        (8, "number", "1", "0"),
        (9, "negation", "not", ""),
        (9, "swap", "<", "<="),
        (9, "swap", "and", "or"),
        (9, "swap", ">=", ">"),
        (9, "number", "2", "3"),
        (10, "sign", "-", "+"),
        (10, "swap", "min", "max"),
        (10, "deletion", "x[0] = -min(k, n)", "pass"),
    }


def test_fields_that_are_only_declared_are_left_alone():
    assert not changes("class Tick(NamedTuple):\n    cycle: int\n    stop: bool\n")
    assert changes("class Tick:\n    cycle: int = 3\n")


HEADER = """\
/* a < b */
#include <math.h>
enum Word { ONE = 1 };
struct Limits { double *a; int n; };
static const int TABLE[2][1] = {{1}, {2}};
static inline struct Limits step(struct Limits *m, const double *x, int n)
{
    const int k = (int)-x[0] + n;
    if (!(k < n) && n >= 2) m->n = -k;
    return *m;
}
"""


def test_functions_and_tables_of_a_header_are_changed_and_its_declarations_are_not():
    found = {(m.line, m.kind, m.old, m.new) for m in c_places.find_mutations(HEADER)}
    assert found == {
        (5, "number", "1", "0"),
        (5, "number", "2", "3"),
        (8, "sign", "-", "+"),
        (8, "swap", "+", "-"),
        (9, "negation", "!", ""),
        (9, "swap", "<", "<="),
        (9, "swap", "&&", "||"),
        (9, "swap", ">=", ">"),
        (9, "number", "2", "3"),
        (9, "sign", "-", "+"),
        (9, "deletion", "m->n = -k", ""),
    }


@pytest.mark.parametrize("name", TARGETS)
def test_every_change_alters_one_line_and_nothing_else(name):
    text = (ROOT / TARGETS[name].source).read_text(encoding="utf-8")
    mutations = kinds.find_mutations(TARGETS[name].source, text)
    assert len(mutations) > 5
    for mutation in mutations:
        changed = apply_mutation(text, mutation)
        differing = [
            n
            for n, (a, b) in enumerate(zip(text.split("\n"), changed.split("\n"), strict=True), 1)
            if a != b
        ]
        assert differing == [mutation.line]


def test_the_name_of_a_mutation_does_not_depend_on_the_lines_before_it():
    longer = TEXT.replace("    # a < b\n", "    # a < b\n    # a > b\n")
    repeated = TEXT.replace("    return k", "    n = k + 1\n    n = k + 1\n    return k")
    named = [
        {name: m for m, name in name_mutations(text, find_mutations(text)).items()}
        for text in (TEXT, longer, repeated)
    ]
    assert set(named[0]) == set(named[1])
    assert all(named[1][name].line == m.line + 1 for name, m in named[0].items())
    assert len(named[2]) == len(find_mutations(repeated)) == len(named[0]) + 6


def test_the_module_of_a_source_is_its_dotted_path():
    assert module_name("rt_core/safety/guard.pyx") == "rt_core.safety.guard"


def test_every_file_that_a_target_names_exists():
    assert missing(TARGETS) == []
