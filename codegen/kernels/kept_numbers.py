"""Numbers that are kept in the user's cache, under a hash of all that they follow from."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from codegen.kernels.cache import require_own

MOST_BYTES = 1 << 16


def keep_numbers(path: Path, numbers: Mapping[str, object]) -> None:
    """Write numbers for the next time; without space or folder they are found again then."""
    beside = path.with_suffix(f".{time.monotonic_ns()}")
    try:
        beside.touch(mode=0o600)
        beside.write_text(json.dumps(numbers, indent=1) + "\n")
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def kept_numbers(path: Path, names: Collection[str]) -> dict[str, float] | None:
    """Return the numbers of these names; None where they are not there, not whole, or negative.

    Raises
    ------
    CacheError
        The file is not the user's alone.
    """
    if not path.exists():
        return None
    require_own(path)
    try:
        with path.open("rb") as file:
            given = json.loads(file.read(MOST_BYTES))
        numbers = {name: given[name] for name in names}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    good = all(type(n) in (int, float) and 0 <= n < math.inf for n in numbers.values())
    return numbers if good else None
