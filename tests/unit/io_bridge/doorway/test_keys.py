"""Keys: for their owner only, and whoever is not authorised does not come in."""

import pytest

from io_bridge.doorway import keys
from io_bridge.doorway.keys import KeyFileError


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "keys"


def test_a_pair_is_made_once_and_read_again(folder):
    made = keys.new_pair(folder)
    assert keys.own_pair(folder) == made
    assert made.secret not in repr(made)
    assert (folder / keys.OWN).stat().st_mode & 0o077 == 0
    with pytest.raises(KeyFileError, match="there already"):
        keys.new_pair(folder)
    assert keys.own_pair(folder) == made


def test_a_key_that_others_may_read_is_refused(folder):
    keys.new_pair(folder)
    (folder / keys.OWN).chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        keys.own_pair(folder)


@pytest.mark.parametrize("text", ["", "public x\nsecret y\n", "public {0}\nsecret {0}\n"])
def test_a_file_that_holds_no_pair_is_refused(folder, text):
    pair = keys.new_pair(folder)
    (folder / keys.OWN).write_text(text.format(pair.public))
    with pytest.raises(KeyFileError, match="rigloop keys new"):
        keys.own_pair(folder)


def test_without_a_key_the_remedy_is_named(folder):
    with pytest.raises(KeyFileError, match="`rigloop keys new`"):
        keys.own_pair(folder)


def test_a_key_is_authorised_once_and_revoked(folder, tmp_path):
    public = keys.new_pair(folder).public
    other = keys.new_pair(tmp_path / "other").public
    keys.authorise(folder, "lab", public)
    assert keys.authorised(folder) == {"lab": public}
    for name, key in (
        ("lab", other),
        ("again", public),
        ("../x", other),
        ("x", "short"),
        ("local", other),
    ):
        with pytest.raises(KeyFileError):
            keys.authorise(folder, name, key)
    keys.revoke(folder, "lab")
    assert not keys.authorised(folder)
    with pytest.raises(KeyFileError, match="no such key"):
        keys.revoke(folder, "lab")


def test_a_folder_that_others_may_write_lets_nobody_in(folder):
    keys.authorise(folder, "lab", keys.new_pair(folder).public)
    (folder / keys.AUTHORISED).chmod(0o777)
    with pytest.raises(OSError, match="chmod 700"):
        keys.authorised(folder)
