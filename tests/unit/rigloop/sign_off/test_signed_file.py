"""The signed file of a rig, as a stranger would try to get around it: each way ends at a twentieth of the torque."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from signed_rigs import limit, signed, signed_copy
from walked_rig import write_rig

from rig_configs.named_files import keep_named
from rigloop.compose.parts import backends_of
from rigloop.compose.wiring import load
from rigloop.sign_off.limit import limited_by_files
from rigloop.sign_off.signed_file import (
    age_of,
    drop_axis,
    read_signed,
    rig_hash,
    signed_path,
    write_signed,
)

NAMES_A_BLOCK = (
    ('blocks = ["relay"]', 'blocks = ["relay", "own"]'),
    ("[blocks.relay]", '[blocks.own]\nkind = "own.toml"\nreads = { u = "relay/torque_nm" }\n\n[blocks.relay]'),
)  # fmt: skip


@pytest.fixture
def rig(tmp_path):
    """A rig that is signed off, and has its own limits."""
    loaded = write_rig(tmp_path)
    signed(loaded)
    assert limit(loaded) is None
    return loaded


def words_of(loaded):
    found = limit(loaded)
    assert found.limits_nm == {"guard": pytest.approx(0.05 * 12.0)}
    return found.line()


def test_a_copy_of_the_signed_file_signs_no_other_rig(rig, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    changed = write_rig(other, "eth9", ("rate_nm_s = 2000.0", "rate_nm_s = 9000.0"))
    signed_copy(rig, changed)
    assert "has changed since one_drive.commissioned.json was signed" in words_of(changed)


def test_a_link_to_a_signed_rig_has_no_signature_of_its_own(rig, tmp_path):
    link = tmp_path / "linked.toml"
    link.symlink_to(rig.path)
    assert "there is no linked.commissioned.json" in words_of(load(str(link)))
    # and one that leads from a signed name to another rig is another rig
    other = tmp_path / "other"
    other.mkdir()
    target = write_rig(other, "eth9", ("max_rate_rad_s = 40.0", "max_rate_rad_s = 41.0")).path
    rig.path.unlink()
    rig.path.symlink_to(target)
    assert "has changed" in words_of(load(str(rig.path)))


def test_a_signed_file_that_is_a_link_signs_nothing(rig, tmp_path):
    path = signed_path(rig)
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert "is a link: it signs nothing" in words_of(rig)


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_signed_file_that_others_may_write_signs_nothing(mode, rig):
    path = signed_path(rig)
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(mode)
    assert f"others may write to it (mode 0{mode:o}; chmod go-w it)" in words_of(rig)


def test_a_walk_makes_no_file_of_its_own_of_a_foreign_one(rig):
    path = signed_path(rig)
    signed(rig, guard="other")
    path.chmod(0o666)
    drop_axis(path, "guard")
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_signed_file_of_another_user_signs_nothing_but_in_a_folder_of_his(rig, tmp_path):
    os.chown(signed_path(rig), 12345, 12345)
    assert "belongs to user 12345" in words_of(rig)
    os.chown(tmp_path, 12345, 12345)
    assert limit(rig) is None
    # it is taken away all the same where a new walk begins
    os.chown(tmp_path, 0, 0)
    drop_axis(signed_path(rig), "guard")
    assert not signed_path(rig).exists()


def test_a_signature_of_the_future_counts_once_the_clock_has_come_to_it(rig):
    path = signed_path(rig)
    whole = read_signed(path)
    late = datetime.now(UTC) + timedelta(hours=2)
    for when in (late.isoformat(), "yesterday", "2026-01-01T00:00:00"):
        axis = msgspec.structs.replace(whole.axes["guard"], when=when)
        write_signed(path, msgspec.structs.replace(whole, axes={"guard": axis}))
        assert f"has the date {when} for guard, and the clock says 20" in words_of(rig)
    assert age_of(late.isoformat(), late + timedelta(hours=1)) == timedelta(hours=1)


def test_a_block_of_its_own_changed_after_the_signature_takes_the_torque_away(tmp_path):
    (tmp_path / "own.toml").write_text(
        'about = "Twice."\n[inputs.u]\nunit = "Nm"\nabout = "In."\n[outputs.y]\nunit = "Nm"\nabout = "Out."\n'
    )
    source = tmp_path / "own.c"
    source.write_text('#include "own.h"\n// out = 2 in\n')
    loaded = write_rig(tmp_path, "eth9", *NAMES_A_BLOCK)
    signed(loaded)
    assert limit(loaded) is None
    source.write_text('#include "own.h"\n// out = 20 in\n')
    assert "a file that it names, has changed" in words_of(loaded)
    source.unlink()
    assert "own.c: cannot be read" in words_of(loaded)


def test_the_files_that_a_run_reads_are_those_that_are_held_against_the_signature(tmp_path):
    samples = tmp_path / "own.csv"
    samples.write_text("a\n1\n")
    loaded = write_rig(tmp_path)
    loaded.files["own.csv"] = str(samples)
    signed(loaded)
    backends = backends_of(loaded.rig)
    run = tmp_path / "run"
    copies = keep_named(run, loaded.files)
    assert limited_by_files(loaded, backends, copies)[0] is None
    assert rig_hash(loaded, copies) == rig_hash(loaded)
    # one was changed between the copy and the look at it, and one before the copy and back again
    samples.write_text("a\n2\n")
    assert limited_by_files(loaded, backends)[0] is not None
    assert limited_by_files(loaded, backends, copies)[0] is None
    copies = keep_named(run, loaded.files)
    samples.write_text("a\n1\n")
    assert limited_by_files(loaded, backends, copies)[0] is not None
    # a copy that is not there signs nothing
    Path(copies["own.csv"]).unlink()
    assert "own.csv: cannot be read" in limited_by_files(loaded, backends, copies)[0].line()
    assert limited_by_files(loaded, backends, {})[0] is not None
