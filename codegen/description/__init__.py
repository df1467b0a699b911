"""From a mechanism file, or the builder, to one validated `System` of equations.

Start with `mechanism.py`; `outputs.py` and `entries.py` read parts of a file, `plausible.py` and `contact.py` say
what looks wrong.
"""
