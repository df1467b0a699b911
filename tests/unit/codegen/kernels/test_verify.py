"""Wrong kernels are refused: a wrong Jacobian entry, a wrong acceleration of the constraints, a wrong
reaction; at hundreds of coordinates too.
"""

import pytest

from codegen.description.n_four_bar import n_four_bar
from codegen.kernels import verify as checks
from codegen.kernels.build import build_kernel, load_reference
from codegen.kernels.verify import VerificationError, jacobian_error, verify
from codegen.kernels.work_energy import work_error


@pytest.fixture
def rod():
    built = build_kernel("guided_rod")
    return built.module, load_reference(built.path)


@pytest.mark.slow
def test_a_good_kernel_tells_how_good(rod):
    found = verify(*rod)
    assert set(found) == {"phi_q", "q", "reaction", "outputs", "open", "work"}
    assert found["work"] < 1e-4


def test_a_wrong_jacobian_entry_is_found(rod, monkeypatch):
    module, twin = rod
    right = twin.phi_q

    def wrong(q):
        jac = right(q)
        jac[0, 1] *= 1.0 + 1e-6
        return jac

    monkeypatch.setattr(twin, "phi_q", wrong)
    with pytest.raises(VerificationError, match="phi_q"):
        verify(module, twin)


@pytest.mark.slow
def test_a_wrong_entry_is_found_along_random_directions(tmp_path, twin, monkeypatch):
    path = tmp_path / "n_four_bar_60.toml"
    path.write_text(n_four_bar(60))
    module = twin(path)
    assert jacobian_error(module) < checks.JACOBIAN_LIMIT
    right = module.phi_q

    def wrong(q):
        jac = right(q)
        jac[70, 100] += 1e-6
        return jac

    monkeypatch.setattr(module, "phi_q", wrong)
    assert jacobian_error(module) > 1e-8


def test_a_wrong_reaction_that_kernel_and_twin_share_is_found_by_its_work(rod, monkeypatch):
    _, twin = rod
    right = twin.Kernel

    class Wrong(right):
        def step(self, *guide):
            super().step(*guide)
            self.reaction = 1.1 * self.reaction
            return 0

    motion = checks._motion(twin, 50)
    assert work_error(twin.Kernel(), twin, motion) < 1e-4
    monkeypatch.setattr(twin, "Kernel", Wrong)
    assert work_error(twin.Kernel(), twin, motion) > checks.LIMITS["float64"]["work"]
    # a finer step has to make the error small; here every step is as wrong
    with pytest.raises(VerificationError, match="work: the energy misses"):
        verify(twin, twin, finer=lambda step_s: twin)


@pytest.mark.slow
def test_stiff_springs_with_a_coarse_step_are_no_mistake(tmp_path):
    # 4e3 rad/s at 1 ms: numerical damping takes the energy of a vibration that it cannot follow
    path = tmp_path / "stiff.toml"
    path.write_text("""
name = "stiff"
[point.P]
position_m = [0.001, 0, 0]
moves = "x"
[point.O]
position_m = [1, 0, 0]
velocity_m_s = [0.1, 0, 0]
moves = "x"
[mass.P]
point = "P"
mass_kg = 1.0
[mass.O]
point = "O"
mass_kg = 1.0
[spring_between.s]
points = ["P", "O"]
stiffness_n_per_m = 1e7
rest_m = 1.0
[outputs]
"p_m" = "P_x"
""")
    assert build_kernel(path).checks["work"] > checks.LIMITS["float64"]["work"]


def test_a_step_that_is_too_long_is_refused_with_one_that_does():
    with pytest.raises(
        VerificationError, match=r"status 3: .* step_s = 0\.00\d+ does, or substeps"
    ):
        build_kernel("squeezer")
