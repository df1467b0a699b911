"""Observer models: what a state observer needs to know of a mechanism, as C that runs in the cycle.

`spec.py` says what is wanted (independent coordinates, sensors, unknown inputs), `resolve.py` looks it
up on a mechanism, `model.py` makes the routines, `text.py` prints them beside the mechanism's ALI3-P
kernel, `build.py` compiles, proves and caches. The filters are in `estimators/`; they see `observer.h`
alone.
"""
