"""The kernel cache is the user's alone, and its binaries are what was built."""

import os
import shutil

import pytest

from codegen.kernels import cache
from codegen.kernels.build import MODULE, BuildError, build_kernel
from codegen.kernels.cache import CacheError, cache_folder, open_cache


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A cache with one kernel, made by someone whose umask lets others write; to be copied."""
    home = tmp_path_factory.mktemp("made")
    umask = os.umask(0)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(home))
            build_kernel("guided_rod")
    finally:
        os.umask(umask)
    return home


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    copy = tmp_path / "home"
    shutil.copytree(made, copy)
    monkeypatch.setenv("XDG_CACHE_HOME", str(copy))
    return copy


def entry(home):
    (found,) = (home / "rigloop" / "kernels").iterdir()
    return found


def refused(words):
    with pytest.raises(BuildError) as caught:
        build_kernel("guided_rod")
    assert words in str(caught.value)
    assert "XDG_CACHE_HOME" in str(caught.value)


@pytest.mark.slow
def test_what_was_built_is_used_again(home):
    assert build_kernel("guided_rod").from_cache


@pytest.mark.slow
def test_nobody_else_can_write_what_is_made(made):
    for place in (made / "rigloop", *(made / "rigloop").rglob("*")):
        assert not place.stat().st_mode & 0o022, place


@pytest.mark.parametrize("name", [f"{MODULE}.so", "reference.py"])
def test_a_file_that_changed_is_not_loaded(home, name):
    with (entry(home) / name).open("ab") as file:
        file.write(b"\n")
    refused("is not the file that was built")


@pytest.mark.parametrize("where", ["rigloop", "rigloop/kernels", "entry", "binary", "build"])
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o666])
def test_what_others_can_write_is_refused(home, where, mode):
    places = {
        "entry": entry(home), "binary": entry(home) / f"{MODULE}.so", "build": entry(home) / "build.json"
    }  # fmt: skip
    place = places.get(where, home / where)
    if place.is_dir() and mode == 0o666:
        mode = 0o722
    place.chmod(mode)
    refused("others may write")


@pytest.mark.parametrize("where", ["rigloop", "rigloop/kernels", "entry", "binary"])
def test_links_are_not_followed(home, tmp_path, where):
    places = {"entry": entry(home), "binary": entry(home) / f"{MODULE}.so"}
    place = places.get(where, home / where)
    moved = tmp_path / "elsewhere"
    place.rename(moved)
    place.symlink_to(moved)
    refused("is a link")


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
@pytest.mark.parametrize("where", ["rigloop/kernels", "entry", "binary"])
def test_what_belongs_to_somebody_else_is_refused(home, where):
    places = {"entry": entry(home), "binary": entry(home) / f"{MODULE}.so"}
    os.chown(places.get(where, home / where), 12345, 12345)
    refused("belongs to user 12345")


def test_a_way_on_which_others_can_put_another_folder_is_refused(home):
    home.chmod(0o777)
    refused("on its way")
    home.chmod(0o1777)  # as a folder for temporary files: nobody moves what is not theirs
    assert build_kernel("guided_rod").from_cache


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"files": 1}', '{"files": {"../x": "0"}}', "[" * 50_000]
)
def test_an_entry_that_does_not_say_what_was_built_is_refused(home, text):
    (entry(home) / "build.json").write_text(text)
    refused("build.json")


def test_a_relative_or_missing_place_is_that_of_the_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "somewhere", "./x", "../x"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_folder() == tmp_path / ".cache" / "rigloop" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / ".cache" / "rigloop" / "kernels"


def test_no_place_at_all_is_told(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def none():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache.Path, "home", staticmethod(none))
    with pytest.raises(CacheError, match="set XDG_CACHE_HOME"):
        cache_folder()


def test_a_place_that_cannot_be_made_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    with pytest.raises(CacheError, match="no kernel can be kept"):
        open_cache()


@pytest.mark.slow
def test_kernels_of_all_mechanisms_share_one_compiled_face(home):
    (face,) = (home / "rigloop" / "faces").iterdir()
    before = (face / "face.o").stat()
    other = build_kernel("slider_crank")
    assert not other.from_cache
    assert other.module.model_info()["name"] == "slider_crank"
    assert other.module.Kernel().name == "slider_crank"
    assert list((home / "rigloop" / "faces").iterdir()) == [face]
    after = (face / "face.o").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert build_kernel("guided_rod").module.Kernel().name == "guided_rod"


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["changed", "open"])
def test_a_face_that_is_not_what_was_compiled_is_linked_into_nothing(home, harm):
    (face,) = (home / "rigloop" / "faces").iterdir()
    if harm == "changed":
        with (face / "face.o").open("ab") as file:
            file.write(b"more")
        words = "face.o: is not the file that was built"
    else:
        (face / "face.o").chmod(0o666)
        words = "face.o: others may write to it"
    with pytest.raises(BuildError, match=words):
        build_kernel("slider_crank")
    assert len(list((home / "rigloop" / "kernels").iterdir())) == 1
