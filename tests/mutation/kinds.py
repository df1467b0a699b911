"""The mutations of a source, by the language that its ending names."""

from __future__ import annotations

import c_places
import places


def find_mutations(source: str, text: str) -> list[places.Mutation]:
    """Return every mutation of a source, in order of place: a C header, or a module in Python or Cython."""
    return (c_places if source.endswith(".h") else places).find_mutations(text)
