"""From a mechanism to a compiled, verified kernel. Offline only.

Start with `kernels/build.py`; the way is `description` (a file becomes a `System`), `equations` and `formulations`
(a `System` becomes a `Program`), `targets` (a `Program` becomes text), `kernels` (text becomes a module).
"""
