"""Kernel options in words and tables: every mistake at once, with key, value and remedy."""

import pytest

from codegen.options.option_text import from_table, from_words
from codegen.options.options import KernelOptions
from rig_configs.mistakes import ConfigError


def test_words_become_options():
    words = ["kappa=1e5", "iterations=3", "frozen=true", "cflags=-g,-DX", "projection=none"]
    wanted = KernelOptions(
        kappa=1e5, iterations=3, frozen=True, cflags=("-g", "-DX"), projection="none"
    )
    assert from_words(words) == wanted
    assert from_words([]) == KernelOptions()


def test_every_mistake_is_told_at_once():
    with pytest.raises(ConfigError) as caught:
        from_words(["kapa=1", "iterations=x", "projection=C", "nonsense", "step_s=-1"])
    told = str(caught.value)
    assert "kapa = '1': unknown option; did you mean 'kappa'" in told
    assert "iterations = 'x': input should be a valid integer" in told
    assert "projection = 'C': input should be 'A', 'B' or 'none'" in told
    assert "nonsense: has no value; write key=value" in told
    assert "step_s = -1.0: input should be greater than 0" in told


def test_flags_are_told_beside_other_mistakes():
    with pytest.raises(ConfigError) as caught:
        from_words(["kappa=-1", "cflags=-g,-ffast-math,-fplugin=x", "march=a b"])
    assert [(m.key, m.remedy[:8]) for m in caught.value.mistakes] == [
        ("kappa", ""), ("march", "write it"), ("cflags.1", "remove"), ("cflags.2", "take -O,"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"cflags = .* at most 32"):
        KernelOptions(cflags=("-g",) * 33)


def test_tables_keep_their_types():
    made = from_table("rig.toml", {"iterations": 3, "kappa": 100000}, step_s=2e-3)
    assert (made.iterations, made.kappa, made.step_s) == (3, 100000, 2e-3)
    with pytest.raises(ConfigError) as caught:
        from_table("rig.toml", {"iterations": 2.5, "frozen": 1, "step_s": 1e-3}, step_s=2e-3)
    assert {m.key for m in caught.value.mistakes} == {"iterations", "frozen", "step_s"}


@pytest.mark.parametrize(("given", "told"), [
    ({"reuse": "step"}, "'A' factors anew"), ({"reuse": "projection"}, "'A' factors anew"),
    ({"kappa": 1.0, "alpha": 1.0}, "give one of them"),
    ({"integrator": "rk4"}, "ali3p goes with"), ({"newmark_gamma": 0.4}, "not stable"),
    ({"substeps": 0}, "greater than or equal to 1"), ({"precision": "float16"}, "'float64' or 'float32'"),
])  # fmt: skip
def test_contradictions_are_refused(given, told):
    with pytest.raises(ValueError, match=told):
        KernelOptions(**given)


def test_the_short_form_names_what_is_not_default():
    assert KernelOptions().short() == "ali3p, generalized_alpha, step_s=0.001"
    assert KernelOptions(kappa=1e5).short().endswith("kappa=100000.0")
