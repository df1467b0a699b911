"""One file per formulation: `build(mechanism, options)` turns a mechanism into a
`codegen.equations.program.Program`; `KernelOptions.formulation` names the file.

How to add a formulation: give the derivative of a state, as `penalty.py` and `hamiltonian.py` do, and
`stepping.py` makes the step with any integrator of `codegen.integrators`; or make a step of its own,
as `ali3p.py`. The order in which it calls its routines is a list of `order.py`, of which the C text and the
cost are read off; the NumPy twin, `<name>.py.in`, is written by hand, since it checks that text.
`equations.py` has the scaled equations, `factor.py` the
factorisation, `unfold.py` the way back to all coordinates. Name it and its integrators in
`codegen.options.options.INTEGRATORS`, and describe its purpose in docs/models/options.md.
"""
