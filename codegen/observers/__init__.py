"""Observer models: the functions of a mechanism that a state observer needs, as C that runs in the cycle.

`spec.py` has the request (independent coordinates, sensors, unknown inputs), `coordinates.py` the mechanism in the
coordinates of its file or of its joints, `resolve.py` looks it up there, `model.py` makes the routines,
`text.py` prints them beside the mechanism's kernel, `build.py` compiles, proves and caches. The filters are in
`estimators/`; they see `observer.h` alone.

Start with `spec.py`.
"""
