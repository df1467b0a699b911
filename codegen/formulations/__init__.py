"""One file per formulation: `build(mechanism, options)` turns a mechanism into a
`codegen.equations.program.Program`; `KernelOptions.formulation` names the file.

How to add a formulation: give the derivative of a state, as `penalty.py` and `hamiltonian.py` do, and
`stepping.py` makes the step with any integrator of `codegen.integrators`; or make a step of its own,
as `ali3p.py`. Either brings `<name>.h.in` and `<name>.py.in`, the order in which the routines are
called in C and in the NumPy twin. `equations.py` has the scaled equations, `factor.py` the
factorisation, `unfold.py` the way back to all coordinates. Name it and its integrators in
`codegen.options.options.INTEGRATORS`, and describe its purpose in docs/options.md.
"""
