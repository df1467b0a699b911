"""Figures beside their bars, as lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def show_figures(found: Mapping[str, Any], bars: Mapping[str, float], *, as_json: bool) -> int:
    """Print what was found; return the exit code: 0 if every bar holds."""
    judged = {name: bar for name, bar in bars.items() if name in found}
    good = all(found[name] <= bar for name, bar in judged.items())
    if as_json:
        print(json.dumps({"good": good, "bars": judged, **found}))
        return 0 if good else 1
    for name, value in found.items():
        shown = f"{value:14.3f}" if isinstance(value, float) else f"{value!s:>14}"
        print(f"{name:26} {shown}" + (f"   bar {judged[name]:g}" if name in judged else ""))
    return 0 if good else 1
