"""One module per formulation: `build(mechanism, options)` turns a mechanism into a
`codegen.program.Program`.

    equations, factor, unfold   common ground: scaled equations, factorisation, the way back
    ali3p                       position level, with an integrator of its own (Newmark family)
    stepping                    a derivative of the state x an integrator of `codegen.integrators`
    acceleration                accelerations and multipliers at a state
    penalty, index1 (augmented), hamiltonian, independent    derivatives

`<name>.h.in` is the order of the routines in C, `<name>.py.in` the same in NumPy with dense linear
algebra; `equations.py.in` and `stepping.py.in` are what the NumPy twins share, `stepping.h.in` the
C around a derivative.

How to add a formulation that is a derivative: create `<name>.py`, whose `build` hands its
`Derivative` to `stepping.stepped`; `<name>.h.in` with `derive`, `set_out` and `conclude`;
`<name>.py.in` with the class `Dynamics`; then its name and integrators in `codegen.options`. Any
other kind of step fills a `Program` itself, as `ali3p` does: C of `advance` and `begin`, and a
NumPy class `Kernel`.
"""
