def guard_memory(begin: int, size: int) -> int:
    """Guard a mapped range against a file that is cut short; return its place, for the two below.

    Parameters
    ----------
    begin : int
        Address of its first byte.
    size : int
        Bytes.

    Raises
    ------
    OSError
        There is no place left, or no handler can be installed.

    Real time
    ---------
    Not safe: the first call installs a signal handler.
    """

def was_cut(place: int) -> bool:
    """Tell if the file of a range was cut short: its lost pages read as zeros."""

def release_memory(place: int) -> None:
    """Give a place back, after the range was unmapped or before."""
