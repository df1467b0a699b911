"""Words that people give to runs: a file of its own in the run folder, so that the manifest stays as it was."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from rig_configs.bounded import UnreadableError, read_text
from rigloop.run_folder.manifest import ManifestError

TAGS = "tags.json"
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
MOST_TAGS = 100


def read_tags(folder: Path) -> tuple[str, ...]:
    """Return the tags of a run, sorted; none without a file.

    Raises
    ------
    ManifestError
        The file is damaged.
    """
    path = folder / TAGS
    if not path.exists():
        return ()
    try:
        found = msgspec.json.decode(read_text(path), type=tuple[str, ...])
    except (UnreadableError, msgspec.DecodeError, RecursionError) as error:
        raise ManifestError(f"{path}: cannot be read: {error}") from None
    return tuple(sorted({tag for tag in found if TAG.fullmatch(tag)}))


def change_tags(folder: Path, add: Iterable[str], remove: Iterable[str] = ()) -> tuple[str, ...]:
    """Add tags to a run and take others away; return what it has then.

    Raises
    ------
    ManifestError
        A tag that is no word, too many of them, or a file that cannot be written.
    """
    add = tuple(add)
    for tag in add:
        if not TAG.fullmatch(tag):
            raise ManifestError(
                f"{tag!r}: a tag is up to 40 letters, digits, points, dashes or underscores"
            )
    tags = tuple(sorted({*read_tags(folder), *add} - set(remove)))
    if len(tags) > MOST_TAGS:
        raise ManifestError(f"{folder}: {len(tags)} tags, at most {MOST_TAGS}")
    path = folder / TAGS
    building = path.with_name(f".{TAGS}.{os.getpid()}")
    try:
        building.write_bytes(msgspec.json.encode(tags) + b"\n")
        building.replace(path)
    except OSError as error:
        raise ManifestError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        building.unlink(missing_ok=True)
    return tags
