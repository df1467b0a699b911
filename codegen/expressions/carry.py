"""Values that a loop keeps in locals, because the same pass, or the next one, reads them back.

Stored through an index that grows with the pass, a value goes through memory before it is read
again, some ten cycles each time; in the factorisation of a chain every link waits for that.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Access:
    """One read or write of an array element, with its index in every pass."""

    array: str
    indices: tuple[int, ...]
    is_write: bool


def kept(accesses: list[Access]) -> tuple[dict[int, int], dict[int, int]]:
    """Reads that always find the value of one write of the same pass, and of one write of the pass before.

    Parameters
    ----------
    accesses : list of Access
        Of one pass, in the order in which they happen.

    Returns
    -------
    this, last : dict of int to int
        Number of the read to number of the write, of the same pass and of the pass before.
    """
    written: dict[tuple[str, int], tuple[int, int]] = {}
    origins: dict[int, list[tuple[int, int] | None]] = {}
    for k in range(len(accesses[0].indices) if accesses else 0):
        for number, access in enumerate(accesses):
            element = (access.array, access.indices[k])
            if access.is_write:
                written[element] = (number, k)
            else:
                write, at = written.get(element, (-1, k))
                origins.setdefault(number, []).append(None if write < 0 else (write, k - at))
    this, last = {}, {}
    begins: dict[int, int] = {}  # write -> where its first value is before the loop
    for number, found in origins.items():
        if (origin := _only(found)) and origin[1] == 0:
            this[number] = origin[0]
        elif found[0] is None and (origin := _only(found[1:])) and origin[1] == 1:
            begin = accesses[number].indices[0]
            if begins.setdefault(origin[0], begin) == begin:
                last[number] = origin[0]
    return this, last


def _only(found: list[tuple[int, int] | None]) -> tuple[int, int] | None:
    return found[0] if len(set(found)) == 1 else None
