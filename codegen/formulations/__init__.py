"""One file per formulation: `build(mechanism, options)` turns a mechanism into a
`codegen.program.Program`.

How to add a formulation: create `<name>.py` with `build`, and beside it `<name>.pyx.in` and
`<name>.py.in`, the order in which the routines are called for each target;
`KernelOptions.formulation` then selects it.
"""
