"""Beams as structures, against closed forms."""

import math

import numpy as np
import pytest
from mechanisms.crooked_beam import crooked

from codegen.flexible.beam import Gauge, Lump, Section, beam, mesh
from codegen.flexible.reduction import Wanted, reduce

PLANE = {"mass": 1.2, "axial": 2.8e7, "bending": (14000.0, 0.0)}
BETAS = (1.8751040687119611, 4.694091132974175, 7.854757438237613)  # of a cantilever


def straight(section, elements=24, length=10.0, **more):
    given = {
        "names": {"root": 0.0, "mid": 0.5, "tip": 1.0},
        "lumps": [],
        "gauges": {},
        "reference": "root",
        "plane": True,
    }
    line = mesh(np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]]), [0.0, 0.5, 1.0], elements)
    return beam(line, [section], [np.array([0.0, 1.0, 0.0])], **given | more)


def test_cantilever_has_the_frequencies_of_the_closed_form():
    made = reduce(straight(Section(**PLANE)), Wanted(("root",), (), 3))
    exact = np.array(BETAS) ** 2 / 100.0 * math.sqrt(14000.0 / 1.2)
    assert made.frequency_hz * 2.0 * math.pi == pytest.approx(exact, rel=2e-5)


def test_shear_and_rotary_inertia_lower_them_as_timoshenko_says():
    # pinned at both ends: omega^4 - omega^2 (1 + k^2 (r^2 + EI/S)) S/(m r^2) ... of the half wave k = pi/L
    area, r, shear, length = 0.01, 0.05, 6e6, 1.0
    e, rho = 2e9, 8000.0
    m, ei = rho * area, e * area * r * r
    section = Section(m, e * area, (ei, 0.0), shear=(shear, 0.0), gyration=(r, 0.0))
    made = reduce(straight(section, 40, length), Wanted(("root", "tip"), (), 1))
    k = math.pi / length
    b = shear * k * k / m + (ei * k * k + shear) / (m * r * r)
    c = shear * k * k / m * ei * k * k / (m * r * r)
    exact = math.sqrt((b - math.sqrt(b * b - 4.0 * c)) / 2.0)
    assert made.frequency_hz[0] * 2.0 * math.pi == pytest.approx(exact, rel=1e-4)


def test_rigid_motions_meet_no_stiffness_and_the_inertia_of_the_points():
    inertia = np.diag([0.01, 0.02, 0.015])
    made = crooked([Lump("b", 1.5, inertia)], {"g": Gauge(0.5, np.array([0.0, 0.01, 0.0]))})
    scale = np.abs(made.stiffness).max()
    assert np.abs(made.stiffness @ made.rigid).max() < 1e-12 * scale
    assert np.abs(made.gauges["g"] @ made.rigid).max() < 1e-12
    second = np.einsum("p,pk,pl->kl", made.weights, made.mass_points, made.mass_points)
    about = np.trace(second) * np.eye(3) - second
    rigid = made.rigid.T @ made.mass @ made.rigid
    assert rigid[3:, 3:] == pytest.approx(about, abs=1e-12)
    length = np.linalg.norm([1.0, 0.5, 0.2]) + np.linalg.norm([0.0, 0.5, 0.8])
    assert rigid[0, 0] == pytest.approx(2.0 * length + 1.5)


def test_force_at_the_tip_bends_twists_and_strains_as_strength_of_materials_says():
    gauges = {"top": Gauge(0.25, np.array([0.0, 0.02, 0.0]))}
    made = straight(Section(**PLANE), 8, 10.0, gauges=gauges)
    tip = made.nodes["tip"].freedoms[1]
    inner = list(range(3, len(made.mass)))  # the root is held
    force = np.eye(len(made.mass))[tip]
    moved = np.zeros(len(force))
    moved[inner] = np.linalg.solve(made.stiffness[np.ix_(inner, inner)], force[inner])
    assert moved[tip] == pytest.approx(1000.0 / (3.0 * 14000.0), rel=1e-9)
    assert made.gauges["top"] @ moved == pytest.approx(-0.02 * 7.5 / 14000.0, rel=1e-9)


def test_spin_stiffens_by_the_mass_beyond_each_place():
    # integral of m (L^2 - x^2) / 2 w'^2 of w = x / L: m L / 3 ... by the shape of a straight line
    made = straight(Section(**PLANE), 6)
    tilt = made.rigid[:, 5]
    by_spin = tilt @ made.load_stiffness[1, 0] @ tilt
    assert by_spin == pytest.approx(1.2 * 10.0**3 / 3.0, rel=1e-12)
    assert tilt @ made.load_stiffness[0, 0] @ tilt == pytest.approx(1.2 * 10.0**2 / 2.0, rel=1e-12)


def test_foreshortening_is_seen_from_the_reference():
    made = straight(Section(**PLANE), 6, reference="mid")
    tilt = made.rigid[:, 5]
    # half of the mass is beyond each side: pulls cancel, moments about the root do not
    assert tilt @ made.load_stiffness[0, 0] @ tilt == pytest.approx(0.0, abs=1e-9)
