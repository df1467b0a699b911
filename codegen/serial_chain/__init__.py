"""Serial chains in generalised inertial parameters: inverse dynamics as text.

Start with `chain.py`; `chain_file.py` reads a chain, `basis.py` finds its base parameters, `text.py` prints it.
"""
