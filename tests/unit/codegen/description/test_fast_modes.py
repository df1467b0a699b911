"""Modes that are too fast for a step."""

import math
import re
from dataclasses import replace

import pytest
from mechanisms.flexible_mechanisms import SPUN, spin_up

from codegen.description.fast_modes import fastest_rad_s, stable, too_fast
from codegen.description.mechanism import MechanismError
from codegen.description.plausible import doubts
from codegen.kernels.generate import program
from codegen.options.options import INTEGRATORS, KernelOptions


def test_fastest_mode_is_that_of_the_body_on_a_guided_hub_and_more_on_a_light_one():
    guided = spin_up().build()
    of_beam = guided.system.flexible["beam"].modes.frequency_hz[-1] * 2.0 * math.pi
    assert fastest_rad_s(guided) == pytest.approx(of_beam)
    assert fastest_rad_s(spin_up(is_driven=True).build()) > of_beam


def test_explicit_rules_are_refused_with_the_step_that_would_do():
    mechanism = spin_up().build()
    assert not too_fast(mechanism, KernelOptions(step_s=0.1))
    assert not too_fast(mechanism, KernelOptions(formulation="index1", step_s=5e-3))
    options = KernelOptions(formulation="index1", step_s=0.02)
    with pytest.raises(
        MechanismError, match=r"34\.\d+ Hz, grows.*step_s = 0\.0083 or less, or substeps = 3"
    ):
        program(mechanism, options)
    euler = KernelOptions(formulation="penalty", integrator="forward_euler")
    ((_, _, remedy),) = too_fast(mechanism, euler)
    assert remedy.endswith("fewer modes")


def test_units_that_make_a_first_frequency_absurd_are_doubted(tmp_path):
    made = spin_up()
    made._entries["flexible_body", "beam"]["beam"] = SPUN | {"youngs_pa": 7e4}  # N/mm^2, as if Pa
    made._entries["flexible_body", "beam"]["modes"] = 1
    told = "\n".join(doubts(made.build(), made.save(tmp_path)))
    assert "flexible_body.beam: its first mode is at 0.000604 Hz" in told
    fast = spin_up()
    fast._entries["flexible_body", "beam"]["beam"] = SPUN | {"youngs_pa": 7e13}
    assert "steps of 1 ms a period" in "\n".join(doubts(fast.build(), fast.save(tmp_path)))


def test_units_that_leave_frequencies_as_they_are_show_in_the_size(tmp_path):
    made = spin_up()
    # mm, t and N: the frequency is that of SI
    millimetres = {
        "line_m": [(0, 0, 0), (10e3, 0, 0)],
        "density_kg_m3": 3e-9,
        "youngs_pa": 7e4,
        "area_m2": 4e2,
        "second_moment_m4": 2e5,
    }
    made._entries["flexible_body", "beam"]["beam"] = SPUN | millimetres
    told = "\n".join(doubts(made.build(), made.save(tmp_path)))
    assert "flexible_body.beam.beam: sound would have 4.83e+06 m/s" in told
    plain = spin_up()
    assert "sound" not in "\n".join(doubts(plain.build(), plain.save(tmp_path)))


EXPLICIT_PAIRS = [
    (formulation, integrator)
    for formulation, integrators in INTEGRATORS.items()
    for integrator in integrators
    if formulation not in ("ali3p", "semi_recursive", "riccati", "particles")
    and integrator != "forward_euler"
]


@pytest.mark.parametrize(("formulation", "integrator"), EXPLICIT_PAIRS)
def test_the_step_that_a_refusal_names_is_taken(formulation, integrator):
    mechanism = spin_up().build()
    long = KernelOptions(formulation=formulation, integrator=integrator, step_s=0.05)
    ((_, _, remedy),) = too_fast(mechanism, long)
    step_s = float(re.search(r"step_s = (\S+) or less", remedy)[1])
    substeps = int(re.search(r"substeps = (\d+)", remedy)[1])
    assert not too_fast(mechanism, replace(long, step_s=step_s))
    assert not too_fast(mechanism, replace(long, substeps=substeps))
    # no more than asked for: a tenth more is too long
    assert too_fast(mechanism, replace(long, step_s=1.12 * step_s))


def test_rules_that_are_implicit_take_any_mode():
    mechanism = spin_up().build()
    for formulation in ("ali3p", "semi_recursive"):
        for integrator in INTEGRATORS[formulation]:
            options = KernelOptions(formulation=formulation, integrator=integrator, step_s=1.0)
            assert not too_fast(mechanism, options)


def oscillated(size, iterations, *, takes_new):
    """Largest place of an oscillator in 2000 trapezoidal steps with these iterations, from 1 at rest."""
    q, v, most = 1.0, 0.0, 0.0
    for _ in range(2000):
        begin_q, begin_v = q + 0.5 * v, v - 0.5 * size**2 * q
        for _ in range(iterations):
            rate = v
            v = begin_v - 0.5 * size**2 * q
            q = begin_q + 0.5 * (v if takes_new else rate)
        most = max(most, abs(q))
    return most


@pytest.mark.parametrize("iterations", range(1, 7))
@pytest.mark.parametrize("formulation", ["index1", "hamiltonian"])
def test_iterations_of_the_trapezoidal_rule_by_turns_keep_a_mode_or_make_it_grow(
    formulation, iterations
):
    options = KernelOptions(
        formulation=formulation, integrator="trapezoidal", iterations=iterations
    )
    takes_new = formulation == "index1"
    limit = stable(options)
    assert (limit == 2.0) == (iterations in ((2, 4, 6) if takes_new else (3, 4)))
    if limit > 0.0:
        assert oscillated(0.99 * limit, iterations, takes_new=takes_new) < 1.05
    if limit < 2.0:
        assert oscillated(1.5, iterations, takes_new=takes_new) > 1e3


def test_too_few_iterations_are_refused_with_those_that_do():
    mechanism = spin_up().build()
    options = KernelOptions(formulation="hamiltonian", step_s=2e-3)
    ((_, _, remedy),) = too_fast(mechanism, options)
    assert remedy.endswith("or iterations = 3, which do not grow as 2 do")
    assert not too_fast(mechanism, replace(options, iterations=3))
