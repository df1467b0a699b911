"""Where scripts find what they import: the parts beside them, and those that they share with tests."""

import os
from pathlib import Path


def where_parts_are(script):
    """Return an environment in which a script finds what lies beside it, and these parts."""
    places = (str(script.parent), str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))}


def beside_its_parts():
    """Return an environment in which a command finds what lies beside it, as it does for a person who starts it."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
