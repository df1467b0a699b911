"""Response times of tasks: does every cycle end before the next deadline, with fixed priorities on each core?

All tasks count their periods from one common zero, and a task that spins takes its core from `spin_ns` before each
deadline on. With C the longest time of a cycle, S the spin, T the period and R the response, counted from the
deadline at which the cycle begins, the least fixed point of

    R = C + sum over j of A_j(R)

is an upper bound of the response. j goes over the tasks of the same core whose priority is not lower, and A_j is the
time that j takes from the core while a cycle waits or runs:

- T is a multiple of T_j: a cycle begins when one of j does, whose spin is over by then, and no earlier one of j is
  left: A_j(t) = C_j + max(0, ceil((t + S_j - T_j) / T_j)) (C_j + S_j);
- else any phase: A_j(t) = ceil((t + J_j) / T_j) (C_j + S_j), where J_j = R_j - C_j, for a cycle of j that is under way
  may have been kept from its core until its last moment.

Joseph and Pandya (1986, doi:10.1093/comjnl/29.5.390), with the jitter of Audsley et al. (1993,
doi:10.1049/sej.1993.0034). A task without a core may be put on any: it counts as a neighbour of every task, unless
there are cores enough for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rt_core.host.spin import MOST_SHARE

MOST_DUTY = 0.95  # of a core, by real-time threads: beyond it the kernel takes time away


@dataclass(frozen=True)
class Load:
    """The demand of one task. Times in ns.

    Attributes
    ----------
    name : str
    period_ns : int
    cost_ns : int
        Longest time of a cycle on a core that nobody else uses.
    priority : int
    core : int or None
    spin_ns : int
        As in `Task`.
    usual_ns : int
        Time that a cycle usually takes, at least: work and spin stay within 85 % of the period (`_spare_spin`).
    is_task : bool
        It needs a core; the watchdog does not.
    """

    name: str
    period_ns: int
    cost_ns: int
    priority: int = 80
    core: int | None = None
    spin_ns: int = 0
    usual_ns: int = 0
    is_task: bool = True

    @property
    def spun_ns(self) -> int:
        """Longest spin before a cycle: what the usual work leaves of the wanted one."""
        return min(self.spin_ns, max(0, int(MOST_SHARE * self.period_ns) - self.usual_ns))


@dataclass(frozen=True)
class Response:
    """The response of one task.

    Attributes
    ----------
    load : Load
    response_ns : int or None
        Upper bound; None: a cycle may not end before the next deadline.
    taken_ns : mapping of str to int
        Time that each neighbour takes within the response, or within the period where there is none.
    """

    load: Load
    response_ns: int | None
    taken_ns: Mapping[str, int] = field(default_factory=dict)


def responses(loads: Sequence[Load], cores: int) -> dict[str, Response]:
    """Compute the response of every task.

    Parameters
    ----------
    loads : sequence of Load
    cores : int
        Of this machine, for tasks without a core of their own.

    Returns
    -------
    dict of str to Response
        In the order of `loads`.
    """
    found: dict[str, Response] = {}
    # from the highest priority down, so that those above are known; of equal ones each counts for the other
    for load in sorted(loads, key=lambda load: -load.priority):
        found[load.name] = _response(load, _above(load, loads, cores), found)
    return {load.name: found[load.name] for load in loads}


def fits(loads: Sequence[Load], cores: int) -> bool:
    """Return whether every cycle of every task ends before its next deadline."""
    return all(r.response_ns is not None for r in responses(loads, cores).values())


def duties(loads: Iterable[Load]) -> dict[int, float]:
    """Return the share of each core that its tasks usually work and spin: the kernel limits an average."""
    found: dict[int, float] = {}
    for load in loads:
        if load.core is not None:
            share = (load.usual_ns + load.spun_ns) / load.period_ns
            found[load.core] = found.get(load.core, 0.0) + share
    return found


def _above(load: Load, loads: Sequence[Load], cores: int) -> list[Load]:
    is_roomy = sum(other.is_task for other in loads) <= cores
    return [
        other
        for other in loads
        if other is not load
        and other.priority >= load.priority
        and (not is_roomy if load.core is None or other.core is None else other.core == load.core)
    ]


def _response(load: Load, above: Sequence[Load], known: Mapping[str, Response]) -> Response:
    least = load.cost_ns
    at = least
    while True:
        taken = {other.name: _taken(load, other, at, known.get(other.name)) for other in above}
        after = least + sum(taken.values())
        # a cycle that ends just when the next one is due loses it
        if after >= load.period_ns:
            whole = {
                other.name: _taken(load, other, load.period_ns, known.get(other.name))
                for other in above
            }
            return Response(load, None, whole)
        if after == at:
            return Response(load, at, taken)
        at = after


def _taken(load: Load, other: Load, within_ns: int, known: Response | None) -> int:
    whole = other.cost_ns + other.spun_ns
    if load.period_ns % other.period_ns == 0:
        again = -(-(within_ns + other.spun_ns - other.period_ns) // other.period_ns)
        return other.cost_ns + max(0, again) * whole
    response = None if known is None else known.response_ns
    latest = other.period_ns if response is None else response
    return -(-(within_ns + latest - other.cost_ns) // other.period_ns) * whole
