MARGIN_US: float

Mapping = tuple[int, int, str, str]
"""Begin, end, rights and file of a piece of memory; no file: an empty name."""

def mappings() -> list[Mapping]:
    """Return the memory of this process, as the kernel lists it."""

def code_pages(maps: list[Mapping], address: int) -> list[int]:
    """Return the readable pages of the file that a function is from, those nearest to it first, at most 128."""

def sorted_by_rights(
    maps: list[Mapping], write: set[int], read: set[int]
) -> tuple[list[int], list[int]]:
    """Return the pages that may be written and were asked to be, and those that are only read; others are left out."""

class WarmPages:
    """The pages that a task's thread touches while it spins; made by `Loop`.

    Real time
    ---------
    `touch` of warm.pxd is safe: at most 1024 pages, no system call, ends 50 µs before the deadline.
    """

    n: int
