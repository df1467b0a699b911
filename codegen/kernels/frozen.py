"""A mechanism whose parameters are constants: nothing to tune, a little less to compute."""

from __future__ import annotations

from dataclasses import replace

from codegen.description.mechanism import Mechanism
from codegen.expressions.dag import Expr


def frozen(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with the default of every run-time parameter in its equations.

    Raises
    ------
    ValueError
        A value that an expression cannot take as a constant, such as a divisor of zero.
    """
    system = mechanism.system
    graph = system.graph
    values = {p.var: graph.const(p.default) for p in system.parameters}

    def put(e: Expr) -> Expr:
        return graph.substitute(e, values)

    try:
        made = replace(
            system,
            parameters=[],
            rows=[
                replace(
                    row, phi=put(row.phi), sliding=None if row.sliding is None else put(row.sliding)
                )
                for row in system.rows
            ],
            mass={key: m for key, e in system.mass.items() if not (m := put(e)).is_zero},
            force={i: put(e) for i, e in system.force.items()},
            pushes={i: [put(e) for e in terms] for i, terms in system.pushes.items()},
            masses=system.masses.over(put),
            potential=None if system.potential is None else put(system.potential),
            updates={var: put(e) for var, e in system.updates.items()},
            followed={var: put(e) for var, e in system.followed.items()},
            held=[replace(h, value=put(h.value)) for h in system.held],
            values={path: put(e) for path, e in system.values.items()},
        )
    except ArithmeticError as error:
        raise ValueError(
            f"frozen = True: a parameter has no finite constant expression ({error}); "
            "change its value or leave parameters tunable"
        ) from None
    return replace(mechanism, system=made)
