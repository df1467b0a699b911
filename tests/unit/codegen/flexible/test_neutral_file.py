"""Finite-element models in neutral files: what is read, and what is refused."""

import numpy as np
import pytest
from mechanisms.truss import gauge, plane_truss, truss

from codegen.flexible.neutral_file import NeutralFileError, read
from codegen.flexible.reduction import Wanted, reduce


def saved(folder, **changed):
    arrays = truss() | changed
    path = folder / "truss.npz"
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def mistakes(path):
    with pytest.raises(NeutralFileError) as found:
        read(path)
    return {m.key: f"{m.problem}; {m.remedy}" for m in found.value.mistakes}


def test_model_becomes_a_structure_with_its_mass_nodes_and_strains(tmp_path):
    arrays = truss()
    structure, remarks = read(
        saved(tmp_path, strain=gauge(arrays)[None, :], strain_names=np.array(["bar"]))
    )
    assert structure.total_mass == pytest.approx(0.05 * len(arrays["nodes"]))
    assert list(structure.nodes) == ["near", "side", "far"]
    assert structure.nodes["far"].position == pytest.approx([0.4, 0.1, 0.1])
    assert list(structure.gauges) == ["bar"]
    assert [r.split(":")[0] for r in remarks] == ["nodes without rotations", "no K_geo"]
    free = np.sort(np.sqrt(np.abs(np.linalg.eigvalsh(arrays["K"]) / 0.05))) / (2.0 * np.pi)
    made = reduce(structure, Wanted((), (), 5))
    assert made.frequency_hz == pytest.approx(free[6:11], rel=1e-6)


def test_matrix_market_files_stand_beside_a_toml(tmp_path):
    from scipy.io import mmwrite
    from scipy.sparse import coo_array

    arrays = truss()
    for key in ("M", "K"):
        mmwrite(tmp_path / f"{key}.mtx", coo_array(arrays[key]))
    lines = ['M = "M.mtx"', 'K = "K.mtx"']
    lines += [f"{key} = {arrays[key].tolist()}" for key in ("nodes", "freedoms", "names", "named")]
    (tmp_path / "truss.toml").write_text("\n".join(lines))
    structure, _ = read(tmp_path / "truss.toml")
    assert np.array_equal(structure.mass, arrays["M"])
    assert structure.stiffness == pytest.approx(arrays["K"], rel=1e-12)
    (tmp_path / "truss.toml").write_text("\n".join(['M = "../M.mtx"', *lines[1:]]))
    assert "no file beside" in mistakes(tmp_path / "truss.toml")["(file)"]


def test_a_model_in_a_plane_has_three_rigid_body_modes(tmp_path):
    arrays = plane_truss()
    structure, _ = read(saved(tmp_path, **arrays))
    assert structure.motions.shape[1] == 3
    assert structure.total_mass == pytest.approx(0.05 * len(arrays["nodes"]))
    free = np.sort(np.sqrt(np.abs(np.linalg.eigvalsh(arrays["K"]) / 0.05))) / (2.0 * np.pi)
    made = reduce(structure, Wanted((), (), 4))
    assert made.frequency_hz == pytest.approx(free[3:7], rel=1e-6)
    held = arrays["K"] + 1e6 * np.eye(len(arrays["K"]))
    told = mistakes(saved(tmp_path, **arrays | {"K": held}))["K"]
    assert "has 0 rigid-body modes, a free body has 3; remove supports" in told
    lifted = arrays["nodes"] + [0.0, 0.0, 0.2]
    turning = np.vstack([arrays["freedoms"], [[0, 3]]])
    wide = np.pad(arrays["K"], (0, 1))
    changed = {"nodes": lifted, "freedoms": turning, "K": wide, "M": wide}
    told = mistakes(saved(tmp_path, **arrays | changed))
    assert "lie up to 0.2 m off the plane" in told["nodes"]
    assert "turn about x and move in a plane; keep rotation 5" in told["freedoms"]


def test_missing_keys_shapes_and_kinds_are_reported_at_once(tmp_path):
    assert set(mistakes(saved(tmp_path, K=None, nodes=None))) == {"K", "nodes"}
    arrays = truss()
    made = mistakes(
        saved(
            tmp_path,
            M=arrays["M"][:-1],
            nodes=np.full_like(arrays["nodes"], np.nan),
            strain=np.zeros((1, 7)),
            strain_names=np.array(["bar"]),
            names=np.array([1, 2, 3]),
        )
    )
    n = len(arrays["freedoms"])
    assert f"give {n} x {n}" in made["M"]
    assert f"is 1 x 7; give 1 x {n}" in made["strain"]
    assert "not finite" in made["nodes"]
    assert "text" in made["names"]
    made = mistakes(saved(tmp_path, named=np.array([0, 1, 99]), names=np.array(["a b", "c", "d"])))
    assert "which is not there" in made["named"]
    assert "'a b'" in made["names"]


def test_matrices_of_no_free_elastic_body_are_refused_with_their_values(tmp_path):
    arrays = truss()
    half = np.triu(arrays["K"])
    told = mistakes(saved(tmp_path, K=half, M=np.triu(arrays["M"] + 0.01)))
    assert all("not symmetric: entries differ by" in told[key] for key in ("M", "K"))
    negative = arrays["M"].copy()
    negative[0, 1] = negative[1, 0] = 0.2
    assert "eigenvalue is -3" in mistakes(saved(tmp_path, M=negative))["M"]
    held = arrays["K"] + 1e6 * np.eye(len(arrays["K"]))
    assert "has 0 rigid-body modes, a free body has 6" in mistakes(saved(tmp_path, K=held))["K"]
    bent = arrays["nodes"].copy()
    bent[:, 1] *= 2.0
    assert "positions do not go with K" in mistakes(saved(tmp_path, nodes=bent))["nodes"]
    row = np.zeros((1, len(arrays["K"])))
    row[0, 0] = 1.0
    made = mistakes(saved(tmp_path, strain=row, strain_names=np.array(["bar"])))
    assert "bar shows a rigid motion" in made["strain"]


def test_what_is_wrong_in_one_array_hides_no_mistake_of_another(tmp_path):
    arrays = truss()
    n = len(arrays["freedoms"])
    light = arrays["M"].copy()
    light[0, 1] = light[1, 0] = 0.2
    rows = gauge(arrays)
    told = mistakes(
        saved(
            tmp_path,
            M=light,
            K=arrays["K"] + 1e6 * np.eye(n),
            strain=np.array([rows[:-1], rows[:-1]]),
            strain_names=np.array(["bar", "bar"]),
            names=np.array(["near", "near", "far"]),
            K_geo=np.triu(np.ones((4, 3, n, n))),
        )
    )
    assert "not positive" in told["M"]
    assert "0 rigid-body modes" in told["K"]
    assert f"give 2 x {n}" in told["strain"]
    assert "'near' is there 2 times" in told["names"]
    assert "'bar' is there 2 times" in told["strain_names"]
    assert "K_geo" in told


def test_geometric_stiffnesses_of_other_freedoms_are_refused(tmp_path):
    n = len(truss()["freedoms"])
    told = mistakes(saved(tmp_path, K_geo=np.triu(np.ones((4, 3, n, n)))))
    assert "moved by 1 m along one axis" in told["K_geo"]
    assert list(told) == ["K_geo"]
    read(saved(tmp_path, K_geo=np.zeros((4, 3, n, n))))


def test_pickles_and_other_files_are_refused(tmp_path):
    path = tmp_path / "truss.npz"
    np.savez(path, **truss() | {"M": np.array([{"a": 1}], dtype=object)})
    assert "(file)" in mistakes(path)
    path.write_text("not a model")
    assert "(file)" in mistakes(path)
    assert "(file)" in mistakes(tmp_path / "none.npz")
