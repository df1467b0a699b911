"""Blocks of a user in Cython: the same declaration, header and bits as in C, and nothing of Python in a step."""

import os

import numpy as np
import pytest
from declared_parameters import WEIGHTS_AND_MODE

from codegen.kernels.toolchain import BuildError
from rig_configs.mistakes import ConfigError
from rigloop.blocks.compiled.declared import read_declared
from rigloop.blocks.compiled.kind import CompiledKind
from rigloop.blocks.compiled.trust import is_trusted, trust

pytestmark = pytest.mark.slow

DECLARATION = (
    """
about = "A bit of everything."
elapsed = true
prepare = true
[inputs.u]
unit = "rad"
about = "In."
[outputs.y]
unit = "as u"
about = "Out."
[outputs.n]
unit = "1"
about = "How many."
"""
    + WEIGHTS_AND_MODE
    + """[parameters.form]
type = "expression"
about = "Of u."
[state.line]
about = "Ring."
size = 3
[state.n]
type = "integer"
about = "How many have come."
[faults]
wanted = "the mode says so"
odd = "the list is odd"
"""
)
C = """
#include "mine.h"
int prepare(const Parameters *p, State *s, double period_s)
{
    s->line[2] = period_s;
    return p->mode == MODE_ODD && p->n_weights % 2 ? FAULT_ODD : 0;
}
int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (p->mode == MODE_FAIL && at->t_ns > 0) return FAULT_WANTED;
    s->line[s->n++ % 3] = in->u;
    double sum = 0.0;
    for (int64_t k = 0; k < p->n_weights; k++) sum += p->weights[k] * s->line[k % 3] / 7.0;
    out->y = are_finite(in) ? sum + sin(form_of(in)) : NAN;
    out->n = (double)(s->n + at->elapsed);
    return 0;
}
"""
CYTHON = """
from libc.math cimport NAN, sin

cdef int prepare(const Parameters *p, State *s, double period_s) noexcept nogil:
    s.line[2] = period_s
    return FAULT_ODD if p.mode == MODE_ODD and p.n_weights % 2 else 0

cdef double weighed(const Parameters *p, const State *s) noexcept nogil:
    cdef double total = 0.0
    cdef int64_t k
    for k in range(p.n_weights):
        total += p.weights[k] * s.line[k % 3] / 7.0
    return total

cdef int step(const Inputs *inputs, Outputs *out, const Parameters *p, State *s, const Clock *at) noexcept nogil:
    if p.mode == MODE_FAIL and at.t_ns > 0:
        return FAULT_WANTED
    s.line[s.n % 3] = inputs.u
    s.n += 1
    out.y = weighed(p, s) + sin(form_of(inputs)) if are_finite(inputs) else NAN
    out.n = <double>(s.n + at.elapsed)
    return 0
"""
TABLE = {"weights": [0.3, 1.0, 0.1], "form": "0.5 * u + 1"}


@pytest.fixture(autouse=True)
def own_config(tmp_path, monkeypatch):
    """A record of trust that is this test's alone."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def mine(write_block, tmp_path):
    """A block of a user in one of the two languages, trusted."""

    def make(source, suffix=".pyx", declaration=DECLARATION):
        for other in (".c", ".pyx"):
            (tmp_path / f"mine{other}").unlink(missing_ok=True)
        kind = CompiledKind(read_declared(write_block(declaration, source, suffix=suffix)))
        trust(kind.declared.hash)
        return kind

    return make


def test_a_block_in_cython_computes_the_bits_of_the_one_in_c(mine, run):
    samples = np.random.default_rng(5).normal(size=200)
    samples[50] = np.nan
    in_c = run(mine(C, ".c"), table=TABLE, u=samples)
    in_cython = run(mine(CYTHON), table=TABLE, u=samples)
    for port in ("y", "n"):
        assert np.asarray(in_c[port]).tobytes() == np.asarray(in_cython[port]).tobytes()
    assert np.isnan(in_c["y"][50])
    assert np.ptp(in_c["y"][:50]) > 1.0


def test_faults_and_what_prepare_refuses_are_those_of_the_declaration(mine, run):
    got = run(mine(CYTHON), table=TABLE | {"mode": "fail"}, u=[3.0, 3.0])
    assert got["fault"][0] == 0
    assert got["fault"][1] != 0
    with pytest.raises(ConfigError, match="the list is odd"):
        run(mine(CYTHON), table=TABLE | {"mode": "odd"}, u=[0.0])


def test_a_source_in_cython_is_compiled_once(mine):
    kind = mine(CYTHON + f"# {os.urandom(8).hex()}\n")
    first, second = kind.build(TABLE), kind.build(TABLE)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.program is second.program


@pytest.mark.parametrize(
    "line",
    [
        "with gil:\n        print(3)",
        "raise ValueError(3)",
        "print(s.n)",
    ],
)
def test_a_step_that_reaches_python_is_refused(mine, line):
    source = CYTHON.replace("s.n += 1", f"{line}\n    s.n += 1")
    with pytest.raises(BuildError, match=r"(?s)block mine .*(calls Python \(|without gil)"):
        mine(source).build(TABLE)


def test_a_function_of_the_step_that_reaches_python_is_refused(mine):
    source = CYTHON.replace("    return total", "    with gil:\n        print(1)\n    return total")
    with pytest.raises(BuildError, match=r"calls Python \(.*PyGILState_Ensure"):
        mine(source).build(TABLE)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("total += p", "totals += p", r"mine\.pyx:\d+"),
        ("const Clock *at) noexcept nogil", "const Clock *at) nogil", r"mine\.pyx:\d+.*[Ss]ignature|exception"),
        ("const Clock *at) noexcept nogil", "const Clock *at) noexcept", r"mine\.pyx:\d+"),
        ("cdef int step(", "cdef int steps(", "step"),
    ],
)  # fmt: skip
def test_a_mistake_of_the_source_is_said_in_the_words_of_cython(mine, old, new, words):
    assert old in CYTHON
    with pytest.raises(BuildError, match=r"(?s)block mine .*" + words):
        mine(CYTHON.replace(old, new)).build(TABLE)


@pytest.mark.parametrize(
    "source",
    [
        'include "{other}"\n' + CYTHON,
        "from other cimport OTHER\n" + CYTHON,
        'cdef extern from "{header}":\n    enum: OTHER\n' + CYTHON,
        'cdef extern from *:\n    """\n    #include "{header}"\n    """\n' + CYTHON,
    ],
)
def test_a_source_in_cython_reads_nothing_that_no_hash_covers(mine, tmp_path, monkeypatch, source):
    other = tmp_path / "other.pxi"
    other.write_text("cdef enum: OTHER = 1\n")
    (tmp_path / "other.pxd").write_text("cdef enum: OTHER = 1\n")
    (tmp_path / "other.h").write_text("#define OTHER 1\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"includes .*other\.(pxi|pxd|h)"):
        mine(source.format(other=other, header=tmp_path / "other.h")).build(TABLE)


def test_a_prepare_that_would_never_run_is_refused(mine):
    with pytest.raises(BuildError, match=r"poisoned .*prepare"):
        mine(CYTHON, declaration=DECLARATION.replace("prepare = true", "")).build(TABLE)


OFF = CYTHON.replace("cdef int prepare", "cdef double off = 3.0\ncdef int prepare")
KEPT = C.replace("int step(", "double kept;\nint step(")


@pytest.mark.parametrize(
    ("suffix", "source", "name"),
    [
        (".pyx", OFF.replace("/ 7.0", "/ off"), "off"),
        (".c", C.replace("double sum = 0.0", "static double sum = 0.0"), "sum"),
        (".c", KEPT.replace("double sum = 0.0;", "double sum = kept++;"), "kept"),
        (".c", C.replace("double sum = 0.0", "static __thread double sum = 1.0"), "sum"),
    ],
)
def test_a_source_that_keeps_numbers_outside_of_its_state_is_refused(mine, suffix, source, name):
    with pytest.raises(BuildError, match=rf"keeps numbers of its own \(.*{name}.*state"):
        mine(source, suffix).build(TABLE)


def test_constant_tables_are_no_kept_numbers(mine, run):
    source = C.replace("double sum = 0.0;", (
        "static const double table[] = { 1.0, 2.0, 4.0 };\n"
        'static const char *const names[] = { "a", "b" };\n'
        "    double sum = table[s->n % 3] + names[s->n % 2][0];"
    ))  # fmt: skip
    assert len(run(mine(source, ".c"), table=TABLE, u=[1.0, 2.0])["y"]) == 2


def test_two_sources_beside_a_declaration_are_refused(write_block):
    write_block(DECLARATION, C)
    path = write_block(DECLARATION, CYTHON, suffix=".pyx")
    with pytest.raises(ConfigError, match=r"two sources.*mine\.c and mine\.pyx"):
        read_declared(path)


def test_trust_in_one_language_is_none_in_the_other(mine, write_block, tmp_path):
    in_c = mine(C, ".c").declared
    (tmp_path / "mine.c").unlink()
    in_cython = read_declared(write_block(DECLARATION, C, suffix=".pyx"))
    assert in_cython.source == in_c.source
    assert not is_trusted(in_cython)


@pytest.mark.parametrize("suffix", [".c", ".pyx"])
def test_a_source_that_is_no_file_of_text_is_a_mistake_of_the_block(write_block, suffix):
    path = write_block(DECLARATION, "", suffix=suffix)
    path.with_suffix(suffix).unlink()
    os.mkfifo(path.with_suffix(suffix))
    with pytest.raises(ConfigError, match=rf"its source mine\{suffix}"):
        read_declared(path)
