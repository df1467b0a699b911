"""Pages for people: the templates of `rigloop/templates`, filled in one way.

What is filled into a page of HTML is escaped, for names in it may be a stranger's; a document of Markdown has
only our own sources in it.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any

from rigloop.display.numbers import fact, figure, microseconds, milliseconds
from rigloop.display.tables import Tone, pieces
from rigloop.display.theme import themed

if TYPE_CHECKING:
    from jinja2 import Environment


def as_image(svg: str) -> str:
    """Address of an SVG for `<img src>`: there a picture draws, and runs and loads nothing."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def fill(template: str, **values: Any) -> str:
    """Return a template of `rigloop/templates` with its values; each that it names must be given."""
    return _templates().get_template(template).render(values)


@cache
def _templates() -> Environment:
    # jinja2 loads here, not with the command line
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=PackageLoader("rigloop"),
        autoescape=select_autoescape(["html.jinja"], default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "as_image": as_image,
        "fact": fact,
        "figure": figure,
        "ms": milliseconds,
        "pieces": pieces,
        "themed": themed,
        "us": microseconds,
    }
    made.globals["CODE"] = Tone.CODE
    return made
