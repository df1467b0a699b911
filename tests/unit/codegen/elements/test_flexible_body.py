"""Flexible bodies of a mechanism file: mistakes, and what joints, forces and outputs find on their nodes."""

import numpy as np
import pytest
from mechanisms.flexible_mechanisms import SPUN, free_shaft, spin_up

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.pose.assembly import assemble

STEEL = {
    "line_m": [(0, 0, 0), (0.5, 0, 0)],
    "density_kg_m3": 7850.0,
    "youngs_pa": 2.1e11,
    "shear_pa": 8e10,
    "diameter_m": 0.01,
    "elements": 4,
    "nodes": {"root": 0.0, "tip": 1.0},
}


def body(beam=None, *, on="space", **keys):
    made = MechanismBuilder("bent")
    made.point("O", position_m=(0, 0, 0)).unit_vector("ex", direction=(1, 0, 0))
    made.unit_vector("ey", direction=(0, 1, 0)).unit_vector("ez", direction=(0, 0, 1))
    vectors = ["ex", "ey", "ez"] if on == "space" else ["ex"]
    table = {"points": ["O"], "vectors": vectors, "frame": "root", "modes": 2}
    made.flexible_body("bar", beam=STEEL | (beam or {}), **table | keys)
    return made


def mistakes(made):
    with pytest.raises(MechanismError) as found:
        made.build()
    return {
        m.key.removeprefix("flexible_body."): f"{m.problem}; {m.remedy}"
        for m in found.value.mistakes
    }


def test_all_mistakes_of_a_beam_at_once_each_with_its_remedy():
    made = mistakes(
        body(
            {
                "density_kg_m3": -7850.0,
                "bore_m": 0.02,
                "elements": 0,
                "nodes": {"root": 0.0, "tip": 1.2},
                "masses": {"top": {"mass_kg": 1.0}},
            },
            frame="rot",
            modes=0,
            reduction="guyan",
        )
    )
    assert "is not on the line; give a fraction, 0 to 1" in made["bar.beam.nodes.tip"]
    assert "tip" in made["bar.beam.masses.top"]
    assert "did you mean 'root'" in made["bar.frame"] or "root" in made["bar.frame"]
    assert made["bar.modes"].startswith("is not 1 to 64")
    assert '"craig_bampton" or "free_free"' in made["bar.reduction"]
    assert made["bar.beam.elements"].startswith("is not 1 to 200")


def test_sections_that_are_none():
    made = mistakes(body({"density_kg_m3": 0.0, "bore_m": 0.02, "area_m2": 1e-4}))
    assert made["bar.beam.density_kg_m3"] == "is not above 0; give it in SI units"
    assert "beside areas" in made["bar.beam.diameter_m"]
    made = mistakes(body({"bore_m": 0.02}))
    assert "less than the diameter" in made["bar.beam.bore_m"]
    lacking = {key: value for key, value in STEEL.items() if key not in ("diameter_m", "shear_pa")}
    made = MechanismBuilder("bent").point("O", position_m=(0, 0, 0))
    made.unit_vector("ex", direction=(1, 0, 0)).unit_vector("ey", direction=(0, 1, 0))
    made.unit_vector("ez", direction=(0, 0, 1))
    table = {"points": ["O"], "vectors": ["ex", "ey", "ez"], "frame": "root", "modes": 2}
    found = mistakes(made.flexible_body("bar", beam=lacking, **table))
    for key in ("area_m2", "second_moment_m4", "second_moment_2_m4", "torsion_m4", "shear_pa"):
        assert "is missing" in found[f"bar.beam.{key}"]
    assert "2 values" in mistakes(body({"density_kg_m3": (1.0, 2.0)}))["bar.beam.density_kg_m3"]
    lump = {"mass_kg": 1.0, "inertia_kg_m2": (1.0, 0.1, 0.1)}
    made = mistakes(body({"masses": {"tip": lump}}))
    assert "belongs to no body" in made["bar.beam.masses.tip.inertia_kg_m2"]


def test_frame_must_span_the_axes_and_leave_the_nodes_that_move_alone():
    assert "give the body another vector" in mistakes(body(on="line"))["bar"]
    made = body(points=["O"])
    made.point("T", position_m=(0.5, 0, 0))
    table = {"points": ["O", "T"], "vectors": ["ex", "ey", "ez"], "frame": "root", "modes": 2}
    made.flexible_body("other", beam=STEEL, **table)
    assert "the node is the point other_tip" in mistakes(made)["other.points"]


def test_damping_and_starts_go_with_the_modes():
    assert "is not from 0 to 1" in mistakes(body(damping_ratio=2.0))["bar.damping_ratio"]
    assert "another number" in mistakes(body(damping_ratio=(0.1, 0.1, 0.1)))["bar.damping_ratio"]
    assert "more than 2 modes" in mistakes(body(initial_m=(0.0, 0.0, 1e-3)))["bar.initial_m"]
    system = body(damping_ratio=0.01, initial_m=(1e-3,)).build().system
    assert system.scalars["bar_mode1"].initial == 1e-3
    of_bar = system.flexible["bar"].modes
    force = system.force[system.scalars["bar_mode1"].index]
    slope = system.graph.diff(force, system.scalars["bar_mode1"].qd).value
    omega = 2.0 * np.pi * of_bar.frequency_hz[0]
    assert slope == pytest.approx(-0.02 * of_bar.stiffness[0] / omega)


def test_joints_masses_and_bodies_stand_on_nodes_wherever_the_file_has_them():
    made = MechanismBuilder("on_a_node").point("P", position_m=(1, 0, 0), moves="xy")
    made.rigid_body(
        "flap",
        points=["beam_tip", "Q"],
        axis=(0, 0, 1),
        mass_kg=1.0,
        centre_m=(10.5, 0, 0),
        inertia_kg_m2=0.1,
    )
    made.point("Q", position_m=(11, 0, 0), moves="xy").mass("ball", point="beam_tip", mass_kg=2.0)
    made.rigid_body(
        "welded",
        points=["W", "V"],
        axis=(0, 0, 1),
        mass_kg=1.0,
        centre_m=(10.5, 0, 0),
        inertia_kg_m2=0.1,
    )
    made.point("W", position_m=(10, 0, 0), moves="xy").point("V", position_m=(10, 1, 0), moves="xy")
    made.flexible_body(
        "beam", points=[(0, 0, 0), "P"], axis=(0, 0, 1), beam=SPUN, frame="root", modes=2
    )
    made.rigid("weld", bodies=["welded", "beam_tip"], point_m=(10, 0, 0))
    system = made.build().system
    # the beam turns, its modes, and the flap: what is welded adds nothing
    assert assemble(system).dof == 4


def test_outputs_show_nodes_and_strains():
    made = body({"gauges": {"top": {"at": 0.0, "offset_m": (0, 0.005, 0)}}}, initial_m=(1e-3, 0.0))
    made.output("tip/x_m", "flexible_body.bar.tip_x_m")
    made.output("tip/bent_m", "flexible_body.bar.tip_bent2_m")
    made.output("bar/strain", "flexible_body.bar.strain_top")
    mechanism = made.build()
    system = mechanism.system
    bent = [system.initial(system.values[f"flexible_body/bar/tip_bent{k}_m"]) for k in (1, 2, 3)]
    assert max(map(abs, bent)) == pytest.approx(1e-3, rel=1e-6)
    assert system.initial(system.values["flexible_body/bar/tip_x_m"]) == pytest.approx(0.5)
    plane = 2 if abs(bent[1]) > 0.5e-3 else 3
    strain = system.initial(system.values["flexible_body/bar/strain_top"])
    # curvature of a cantilever's first shape at its root: 3.516 / L^2 of the tip's deflection
    exact = -0.005 * 3.516 / 0.5**2 * bent[1] if plane == 2 else 0.0
    assert strain == pytest.approx(exact, rel=0.05, abs=1e-12)  # of four elements


def test_transfer_matrices_refuse_a_body_that_bends():
    from codegen.kernels.generate import program
    from codegen.options.options import KernelOptions

    with pytest.raises(MechanismError, match=r"flexible_body.beam: bends"):
        program(spin_up(is_driven=True).build(), KernelOptions(formulation="riccati"))


def test_a_body_on_the_directions_of_a_node_is_refused_with_a_way_that_does():
    made = free_shaft()
    made.rigid_body(
        "disc", points=["shaft_tip"], vectors=["shaft_tip_x", "shaft_tip_y", "shaft_tip_z"], mass_kg=1.0,
        centre_m=(0.7, 0.1, 0.25), inertia_kg_m2=(0.1, 0.1, 0.1),
    )  # fmt: skip
    words = r"vectors = 'shaft_tip_x'.*of unit length to first order only.*fix it by `rigid` to shaft_tip"
    with pytest.raises(MechanismError, match=words):
        made.build()
