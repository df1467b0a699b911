"""Blocks of a user: compiled only once trusted, kept, refused where the source or the cache is wrong."""

import math
import os

import numpy as np
import pytest
from declared_parameters import WEIGHTS_AND_MODE

from codegen.kernels.toolchain import BuildError
from rig_configs.bounded import parse_toml
from rig_configs.mistakes import ConfigError
from rigloop.blocks.compiled import build
from rigloop.blocks.compiled.build import build_block
from rigloop.blocks.compiled.declaration import Declaration
from rigloop.blocks.compiled.declared import read_declared
from rigloop.blocks.compiled.header import header
from rigloop.blocks.compiled.kind import CompiledKind, read_kinds
from rigloop.blocks.compiled.trust import (
    NotTrustedError,
    TrustError,
    is_trusted,
    record_path,
    trust,
    trusted,
)

DECLARATION = (
    """
about = "The mean of the last inputs. */ \\" ??/ end"
elapsed = true
prepare = true
[inputs.u]
unit = "rad"
about = "In. */ int x; /*"
[inputs.extra]
unit = "rad"
about = "Is added."
otherwise = -2.5
[outputs.mean]
unit = "as u"
about = "Their mean."
[outputs.elapsed]
unit = "1"
about = "Periods since the last step."
[outputs.t_s]
unit = "s"
about = "Time."
[parameters.length]
type = "whole"
about = "How many."
least = 1
most = 1000
[parameters.scale]
about = "A factor."
default = 1.0
"""
    + WEIGHTS_AND_MODE
    + """[state.line]
about = "Ring."
size = "length"
[state.fixed]
about = "Four of them."
type = "bits"
size = 4
[state.n]
type = "integer"
about = "How many have come."
[faults]
wanted = "the mode says so"
odd = "the length is odd"
"""
)
SOURCE = """
#include "mine.h"
int prepare(const Parameters *p, State *s, double period_s)
{
    s->fixed[3] = 7;
    return p->mode == MODE_ODD && p->length % 2 && period_s > 0.0 ? FAULT_ODD : 0;
}
int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (p->mode == MODE_FAIL && at->t_ns > 0) return FAULT_WANTED;
    s->line[s->n++ % p->length] = in->u;
    double sum = 0.0;
    for (int64_t k = 0; k < p->length; k++) sum += p->weights[k % p->n_weights] * s->line[k];
    out->mean = p->scale * sum / (double)p->length + in->extra + (double)(s->fixed[3] - 7);
    out->elapsed = at->first ? -1.0 : (double)at->elapsed;
    out->t_s = (double)at->t_ns * 1e-9 / at->period_s;
    return 0;
}
"""


@pytest.fixture(autouse=True)
def own_config(tmp_path, monkeypatch):
    """A record of trust that is this test's alone."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def mine(write_block):
    """A block of a user with everything that a declaration may have."""

    def make(declaration=DECLARATION, source=SOURCE, *, is_trusted=True):
        kind = CompiledKind(read_declared(write_block(declaration, source)))
        if is_trusted:
            trust(kind.declared.hash)
        return kind

    return make


TABLE = {"length": 3, "weights": [1.0, 1.0], "scale": 2.0}


def test_a_block_with_everything_steps(mine, run):
    got = run(mine(), table=TABLE, u=[3.0, 6.0, 9.0, 12.0], cycles=[0, 1, 2, 7])
    assert np.allclose(got["mean"], [2.0 - 2.5, 6.0 - 2.5, 12.0 - 2.5, 18.0 - 2.5])
    assert np.array_equal(got["elapsed"], [-1, 1, 1, 5])
    assert np.allclose(got["t_s"], [0, 1, 2, 7])


def test_an_optional_input_is_read_where_it_is_wired(mine, run):
    got = run(mine(), table=TABLE, u=[0.0], extra=[4.0])
    assert got["mean"][0] == 4.0


def test_a_fault_of_a_step_is_the_loops(mine, run):
    kind = mine()
    got = run(kind, table=TABLE | {"mode": "fail"}, u=[3.0, 3.0])
    assert got["fault"][0] == 0
    assert got["fault"][1] != 0
    assert kind.faults == {1: "the mode says so", 2: "the length is odd"}
    assert got["mean"][1] == 0.0  # what a step does not write is zero


def test_what_prepare_refuses_is_refused_in_its_words(mine, run):
    with pytest.raises(ConfigError, match="the length is odd"):
        run(mine(), table=TABLE | {"mode": "odd"}, u=[0.0])


def test_nothing_is_compiled_before_it_is_trusted(mine, monkeypatch):
    monkeypatch.setattr(build, "run", lambda *a: pytest.fail("was compiled"))
    monkeypatch.setattr(build, "_load", lambda *a: pytest.fail("was loaded"))
    kind = mine(is_trusted=False)
    assert not is_trusted(kind.declared)
    with pytest.raises(NotTrustedError, match=r"mine\.c.*--trust"):
        kind.make("b", TABLE, {"u": "a/b"}, period_s=1e-3)


def test_another_source_is_not_trusted(mine):
    mine()
    assert not is_trusted(mine(source=SOURCE + "\n", is_trusted=False).declared)


def test_a_source_is_compiled_once(mine):
    kind = mine(source=SOURCE + f"// {os.urandom(8).hex()}\n")
    first, second = kind.build(TABLE), kind.build(TABLE)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.hash == second.hash
    assert first.program is second.program  # loaded once


def test_the_hash_has_the_flags_of_the_declaration(mine):
    plain, flagged = mine(), mine('cflags = ["-O1"]\n' + DECLARATION)
    assert plain.build(TABLE).hash != flagged.build(TABLE).hash


def test_a_library_that_is_another_one_now_is_refused(mine):
    kind = mine(source=SOURCE + f"// {os.urandom(8).hex()}\n")
    path = kind.build(TABLE).path
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(BuildError, match="is not the file that was built"):
        kind.build(TABLE)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("#include <mine.h>\n", "mine.h"),
        ('#include "mine.h"\n', "step"),
        (SOURCE.replace("in->u", "in->v"), "no member named .v."),
        (SOURCE.replace("sum +=", "total +="), ".total. undeclared"),
        (SOURCE.replace("return 0;\n}\n", "missing();\n    return 0;\n}\n"), "missing"),
        (SOURCE.replace("    return 0;\n}\n", "}\n"), "no return statement|control reaches end"),
        (
            SOURCE.replace("    double sum = 0.0;", "    double sum = other();").replace(
                "int step", "double other(void);\nint step"
            ),
            "undefined.*other",
        ),
    ],
)
def test_a_source_that_does_not_compile_is_refused_with_the_compilers_words(mine, source, words):
    if source.startswith("#include <mine"):
        source += SOURCE.partition("\n")[2].partition("\n")[2].replace("in->u", "in->w")
    with pytest.raises(BuildError, match=words) as caught:
        mine(source=source).build(TABLE)
    assert "block mine" in str(caught.value)


@pytest.mark.parametrize("form", ['"{}"', "<{}>"])
def test_a_source_may_not_include_what_no_hash_covers(mine, tmp_path, form):
    other = tmp_path / "other.h"
    other.write_text("#define OTHER 1\n")
    with pytest.raises(BuildError, match=r"includes .*other\.h"):
        mine(source=f"#include {form.format(other)}\n{SOURCE}").build(TABLE)


def test_a_source_that_hides_behind_a_pragma_may_not_either(mine, tmp_path):
    (tmp_path / "other.h").write_text("#define OTHER 1\n")
    hidden = f'#pragma GCC system_header\n#include "{tmp_path}/other.h"\n{SOURCE}'
    with pytest.raises(BuildError, match=r"includes .*other\.h"):
        mine(source=hidden).build(TABLE)


@pytest.mark.parametrize(
    "form",
    [
        '__asm__(".incbin \\"{}\\"");',
        '__attribute__((section(".kept,\\"a\\"\\n.incbin \\"{}\\"\\n#"))) int kept = 3;',
        '__asm__(".include \\"{}\\"");',
    ],
)
def test_a_text_for_the_assembler_may_not_read_what_no_hash_covers(mine, tmp_path, form):
    other = tmp_path / "other.s"
    other.write_text(".byte 1\n")
    hidden = SOURCE + form.format(other) + "\n"
    with pytest.raises(BuildError, match=r"includes .*other\.s"):
        mine(source=hidden).build(TABLE)


def test_a_source_without_a_step_is_refused_in_one_sentence(mine):
    source = '#include "mine.h"\nint prepare(const Parameters *p, State *s, double period_s) { return 0; }\n'
    with pytest.raises(
        BuildError, match=r"mine\.toml\): its source has no function `step`"
    ) as caught:
        mine(source=source).build(TABLE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("when", ["constructor", "destructor"])
def test_a_function_that_would_run_as_the_source_is_loaded_is_refused(mine, when):
    source = f"{SOURCE}__attribute__(({when})) static void early(void) {{ for (;;); }}\n"
    with pytest.raises(BuildError, match="runs code when it is loaded or let go"):
        mine(source=source).build(TABLE)


def test_a_prepare_that_would_never_run_is_refused(mine):
    with pytest.raises(BuildError, match=r"poisoned .prepare."):
        mine(DECLARATION.replace("prepare = true", "")).build(TABLE)


def test_a_block_may_have_the_name_of_a_header_or_of_what_lies_beside_it(write_block):
    for name in ("math", "glue", "block", "stdint", "read", "step", "in", "out", "p", "s", "at"):
        text = 'about = "A."\n[outputs.y]\nunit = "1"\nabout = "B."\n'
        source = f'#include "{name}.h"\n' + SOURCE[SOURCE.index("int step") :].partition("{")[0]
        source += "{ (void)in, (void)p, (void)s, (void)at; out->y = 1.0; return 0; }\n"
        path = write_block(text, source, name)
        if name == "in":  # a word of Python
            with pytest.raises(ConfigError, match="reserved word"):
                read_declared(path)
            continue
        kind = CompiledKind(read_declared(path))
        trust(kind.declared.hash)
        assert kind.make("b", {}, {}, period_s=1e-3).writes == {"y": "b/y"}


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300, True, "1", None, [1.0]])
def test_a_parameter_that_is_no_number_is_refused(shipped, value):
    with pytest.raises(ConfigError, match=r"blocks\.b\.gain"):
        shipped["gain"].make("b", {"gain": value}, {"u": "a/b"}, period_s=1e-3)


def test_wrong_ports_and_parameters_come_at_once(mine):
    with pytest.raises(ConfigError) as caught:
        mine().make(
            "b",
            {"length": 0, "weights": [], "mode": "x"},
            {"v": "a/b"},
            {"w": "c/d"},
            period_s=1e-3,
        )
    found = str(caught.value)
    for words in (
        "reads.v: no such port", "reads.u: not wired", "writes.w: no such port", "length = 0: must be >= 1",
        "weights = []: has 0 numbers", "mode = 'x': is none of work, fail, odd",
    ):  # fmt: skip
        assert words in found, words


def test_the_header_says_what_the_declaration_says_and_no_more():
    text = header("mine", Declaration.model_validate(parse_toml(DECLARATION)))
    for line in text.splitlines():
        assert not line.startswith("int x"), line
    assert "    double u;  // In. * / int x; / * [rad]" in text
    assert "??/" not in text
    assert "enum { MODE_WORK, MODE_FAIL, MODE_ODD };" in text
    assert "    FAULT_WANTED = 1,  // the mode says so" in text
    assert "    uint64_t fixed[4];  // Four of them." in text


def test_kinds_of_a_folder_are_found_and_their_mistakes_come_at_once(tmp_path):
    for place in ("one.toml", "drawer/two.toml"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(DECLARATION)
        path.with_suffix(".c").write_text(SOURCE)
    assert set(read_kinds(tmp_path)) == {"one", "two"}
    assert set(read_kinds(tmp_path, ["two", "three"])) == {"two"}
    (tmp_path / "one.toml").write_text("about = 1")
    (tmp_path / "drawer" / "two.c").unlink()
    with pytest.raises(ConfigError) as caught:
        read_kinds(tmp_path)
    assert {mistake.file.rpartition("/")[2] for mistake in caught.value.mistakes} == {
        "one.toml",
        "two.toml",
    }


def test_two_of_a_name_are_refused(tmp_path):
    for place in ("a/one.toml", "b/one.toml"):
        path = tmp_path / place
        path.parent.mkdir()
        path.write_text(DECLARATION)
        path.with_suffix(".c").write_text(SOURCE)
    with pytest.raises(ConfigError, match="has this name too"):
        read_kinds(tmp_path)


HASH = "a" * 64


def test_trust_is_remembered_and_is_the_users_alone():
    assert HASH not in trusted()
    umask = os.umask(0)
    try:
        trust(HASH)
        trust(HASH)
        trust("b" * 64)
    finally:
        os.umask(umask)
    assert trusted() == {HASH, "b" * 64}
    assert record_path().stat().st_mode & 0o777 == 0o600
    assert record_path().parent.stat().st_mode & 0o777 == 0o700
    assert record_path().read_text().count(HASH) == 1


@pytest.mark.parametrize("hash", ["", "a", "A" * 64, "a" * 65, "a" * 63 + "\n", "../x"])
def test_what_is_no_hash_is_not_trusted(hash):
    with pytest.raises(ValueError, match="is not the hash"):
        trust(hash)


def test_a_record_that_others_may_write_is_refused(mine):
    trust(HASH)
    path = record_path()
    path.chmod(0o620)
    with pytest.raises(TrustError, match=r"others may write to it \(mode 0620\)"):
        trusted()
    path.chmod(0o600)
    path.parent.chmod(0o777)
    with pytest.raises(TrustError, match="others may write"):
        trust("b" * 64)
    path.parent.chmod(0o700)
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)
    with pytest.raises(TrustError, match="is a link"):
        is_trusted(mine(is_trusted=False).declared)
    path.unlink()
    path.mkdir()
    with pytest.raises(TrustError, match="is not a regular file"):
        trusted()


def test_a_record_that_holds_something_else_is_refused():
    trust(HASH)
    record_path().write_text("everything\n")
    with pytest.raises(TrustError, match="not a list of hashes"):
        trusted()


def test_what_ships_is_trusted_by_its_place(shipped, tmp_path):
    assert is_trusted(shipped["gain"].declared)
    # the same bytes elsewhere are not
    for suffix in (".toml", ".c"):
        copy = tmp_path / f"gain{suffix}"
        copy.write_bytes(shipped["gain"].declared.path.with_suffix(suffix).read_bytes())
    assert not is_trusted(read_declared(tmp_path / "gain.toml"))
    link = tmp_path / "link.toml"
    link.symlink_to(tmp_path / "gain.toml")
    link.with_suffix(".c").symlink_to(tmp_path / "gain.c")
    assert not is_trusted(read_declared(link))


@pytest.mark.parametrize("name", ["gain", "mine"])
def test_a_link_to_a_declaration_that_ships_lends_no_trust_to_the_source_beside_it(
    shipped, tmp_path, name
):
    link = tmp_path / f"{name}.toml"
    link.symlink_to(shipped["gain"].declared.path)
    link.with_suffix(".c").write_text(SOURCE)
    assert not is_trusted(read_declared(link))


def test_the_memory_of_a_block_begins_at_a_cache_line(shipped):
    block = shipped["low_pass"].make("b", {"cutoff_hz": 1.0}, {"u": "a/b"}, period_s=1e-3)
    assert block.words.ctypes.data % 64 == 0
    assert math.isclose(block.words.view(np.float64)[-3], 1 - math.exp(-2e-3 * math.pi))


def test_a_library_with_an_expression_is_built_for_each_expression(shipped):
    kind = shipped["expression"]
    one, other = kind.build({"formula": "u1"}), kind.build({"formula": "u1 + 1"})
    assert one.hash != other.hash


def test_no_compiler_is_said_with_the_remedy(mine, monkeypatch):
    from codegen.kernels import toolchain

    monkeypatch.setenv("CC", "no-such-compiler")
    toolchain.compiler.cache_clear()
    try:
        with pytest.raises(BuildError, match=r"no C compiler 'no-such-compiler'.*apt install"):
            build_block(mine().declared)
    finally:
        monkeypatch.undo()
        toolchain.compiler.cache_clear()
