"""Files from outside, read with bounds: bytes, depth, number of values, size of numbers.

What is too much is refused in one sentence, whatever the parser behind it would have made of it.
"""

from __future__ import annotations

import codecs
import errno
import math
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from rig_configs.plain import line

MOST_BYTES = 1 << 20  # of a rig, mapping or device file
MOST_MECHANISM_BYTES = 8 << 20
MOST_DEPTH = 12  # tables in tables; the files of this project take six
MOST_VALUES = 200_000
MOST_KEPT_BYTES = 64 << 20  # of a file that a run keeps beside its records
READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LARGEST_INTEGER = 10**300  # what no float takes; a key's own limit is in its schema
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = re.compile(rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*")


class UnreadableError(ValueError):
    """A file cannot be used at all; the message says why, in words, without the file's name."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file of a disk for reading; a pipe, terminal or device in its place is not waited for.

    Raises
    ------
    OSError
        It is none, or cannot be opened.
    """
    file = open(os.open(path, READING), "rb")  # noqa: SIM115, it is the caller's
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) or _is_of_the_kernel(path):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
    except BaseException:
        file.close()
        raise
    return file


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Content of a regular file of at most `most_bytes` bytes.

    Raises
    ------
    OSError
        It is none, or cannot be read.
    """
    with open_regular(path) as file:
        raw = file.read(most_bytes + 1)
    if len(raw) > most_bytes:
        raise OSError(errno.EFBIG, f"is larger than {most_bytes} bytes", str(path))
    return raw


def read_text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """Text of a regular file of at most `most_bytes` bytes of UTF-8.

    Raises
    ------
    UnreadableError
        It is none.
    """
    try:
        with open_regular(path) as file:
            raw = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise UnreadableError(_reason(error)) from None
    if len(raw) > most_bytes:
        raise UnreadableError(f"is larger than {most_bytes} bytes")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableError("is UTF-16 text: save it as UTF-8")
    try:
        return raw.decode("utf-8-sig")  # some editors put a mark at the beginning
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not a text file: byte {error.start} is not UTF-8") from None


def _is_of_the_kernel(path: Path) -> bool:
    """Tell a file of the kernel from one of a disk: those of /proc look regular, and some wait for ever."""
    resolved = os.path.realpath(path)
    return resolved.startswith(("/proc/", "/sys/"))


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises
    ------
    UnreadableError
        It is not TOML, or deeper or longer than any file of this project.
    """
    # tomllib takes time and memory that grow with the square of a dotted key
    if any(found[0].count(".") > 100 * MOST_DEPTH for found in _DOTTED.finditer(text)):
        raise UnreadableError(f"is nested deeper than {MOST_DEPTH} levels")
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise UnreadableError(f"is nested deeper than {MOST_DEPTH} levels") from None
    except ValueError as error:  # that of TOML, and numbers of too many digits
        raise UnreadableError(f"is not TOML ({error})") from None
    _refuse_too_much(document)
    return document


def _refuse_too_much(document: dict[str, Any]) -> None:
    waiting: list[tuple[Any, int, str]] = [(document, 0, "")]
    n_values = 0
    while waiting:
        value, depth, key = waiting.pop()
        n_values += 1
        if depth > MOST_DEPTH:
            raise UnreadableError(f"is nested deeper than {MOST_DEPTH} levels")
        if n_values > MOST_VALUES:
            raise UnreadableError(f"has more than {MOST_VALUES} values")
        if isinstance(value, dict):
            waiting += ((inner, depth + 1, str(name)) for name, inner in value.items())
        elif isinstance(value, list):
            waiting += ((inner, depth + 1, key) for inner in value)
        elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            digits = int(math.log10(abs(value))) + 1
            raise UnreadableError(
                f"has a whole number of {digits} digits ({line(key, 40)}), limit 300"
            )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
