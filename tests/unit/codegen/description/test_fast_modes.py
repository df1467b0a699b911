"""Modes that are too fast for a step."""

import math

import pytest
from mechanisms.flexible_mechanisms import SPUN, spin_up

from codegen.description.fast_modes import fastest_rad_s, too_fast
from codegen.description.mechanism import MechanismError
from codegen.description.plausible import doubts
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions


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
