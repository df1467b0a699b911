"""Pictures that a run folder keeps, as a report may show them: the folder may be a stranger's."""

from __future__ import annotations

import base64


def as_image(svg: str) -> str:
    """Address of an SVG for `<img src>`: there a picture draws, and runs and loads nothing."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
