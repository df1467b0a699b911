"""Where a script of tests/integration finds the parts that it shares with tests."""

import os
from pathlib import Path


def where_parts_are(script):
    """Return an environment in which a script finds what lies beside it, and these parts."""
    places = (str(script.parent), str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))}
