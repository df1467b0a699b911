"""Integrators of a state whose derivative a formulation evaluates; one pair of templates each.

`<name>.h.in` has `integrate(w, s0, s, part)`: from the state `s` at its derivative to the end of
step `part` of the call, where the derivative is evaluated last. It may call `inputs(w, s0, s, at)`,
which puts guides and signals of the time `at` (in steps) into the work space, and `derive(w, s)`. A
line `each ...` stands for a loop over every integrated array `{y}` with its derivative `{dy}`;
`each_back ...` takes the arrays in reverse, rates before positions. `<name>.py.in` has the same as
`integrate(kernel, inputs)` over lists of arrays.

How to add one: write the two templates, its evaluations in `codegen.formulations.stepping.EVALUATED`
and its name in `codegen.options.options` (`Integrator`, and `INTEGRATORS` of the formulations it suits).
"""
