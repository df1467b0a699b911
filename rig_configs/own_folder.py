"""The folders of a user, as the standard of XDG places them."""

from __future__ import annotations

import os
from pathlib import Path


def own_folder(variable: str, below_home: str) -> Path | None:
    """Return the folder that a variable names, else the one below the home; None where there is neither.

    A relative name in the variable is ignored, as the standard asks.
    """
    named = os.environ.get(variable, "")
    if named.startswith("/"):
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / below_home if home.is_absolute() else None
