"""The rules for names: checked where a file is read, before the name reaches generated code, a signal
table, a file name or a screen. `rig_configs.plain` is the other side: what leaves is made harmless there.

Four kinds: a *name* of a mechanism file (`wheel`, an identifier of every language that is generated), a
*word* of a rig file (`wheel-2`), a *path* of a signal (`wheel/angle_rad`) and a *line* of text (a title).
Each function returns a problem in words, or None.
"""

from __future__ import annotations

import keyword
import re
from typing import Annotated

from pydantic import AfterValidator

from rig_configs.plain import LONGEST_FILE_NAME, is_shown
from rt_core.names import PATH, WORD
from rt_core.settings import Refusal

LONGEST_NAME = 64
LONGEST_PATH = 120
LONGEST_TEXT = 500
REMEDY_NAME = f"use letters, digits and _, a letter first, at most {LONGEST_NAME}"
REMEDY_WORD = f"use letters, digits, _ and -, at most {LONGEST_NAME}"
REMEDY_PATH = "write it like wheel/angle_rad: letters, digits and _ . - between the slashes"
REMEDY_TEXT = f"write one line of at most {LONGEST_TEXT} printable characters"

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


C_WORDS = _words(
    "auto break case char const continue default do double else enum extern float for goto if inline "
    "int long register restrict return short signed sizeof static struct switch typedef typeof union "
    "unsigned void volatile while asm bool true false nullptr thread_local static_assert alignas "
    "alignof constexpr NULL EOF NAN INFINITY main errno stdin stdout stderr linux unix"
)
CPP_WORDS = _words(
    "and and_eq bitand bitor catch class compl concept const_cast consteval constinit co_await "
    "co_return co_yield decltype delete dynamic_cast explicit export friend mutable namespace new "
    "noexcept not not_eq operator or or_eq private protected public reinterpret_cast requires "
    "static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq"
)
CYTHON_WORDS = _words("cdef cpdef ctypedef cimport gil nogil include DEF IF ELIF ELSE self cls")
RESERVED = C_WORDS | CPP_WORDS | CYTHON_WORDS | frozenset(keyword.kwlist)


def name_problem(name: object) -> str | None:
    """Return the reason why `name` cannot be an identifier in C, C++, Python and Cython."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return "is not a name"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if name in RESERVED:
        return "is a reserved word of C, C++, Python or Cython"
    return None


def file_name_problem(name: object) -> str | None:
    """Return the reason why `name` cannot be the name of a mechanism and of its file, without its suffix."""
    if not isinstance(name, str) or not FILE_NAME.fullmatch(name):
        return "is not a name: letters, digits and _ - . only"
    if len(name) > LONGEST_FILE_NAME:
        return f"is longer than {LONGEST_FILE_NAME} characters"
    if name in RESERVED:
        return "is a reserved word of C, C++, Python or Cython"
    return None


def word_problem(word: object) -> str | None:
    """Return the reason why `word` cannot be a part of a rig: of paths, threads and files, never of code."""
    if not isinstance(word, str) or not WORD.fullmatch(word):
        return "is not a name"
    return f"is longer than {LONGEST_NAME} characters" if len(word) > LONGEST_NAME else None


def path_problem(path: object) -> str | None:
    """Return the reason why `path` cannot be the path of a signal."""
    if not isinstance(path, str) or not PATH.fullmatch(path):
        return "is not the path of a signal"
    if len(path) > LONGEST_PATH:
        return f"is longer than {LONGEST_PATH} characters"
    return None


def text_problem(text: object) -> str | None:
    """Return the reason why `text` cannot be one line that every screen and page shows as it is written."""
    if not isinstance(text, str):
        return "is not text"
    if len(text) > LONGEST_TEXT:
        return f"is longer than {LONGEST_TEXT} characters"
    strange = next((c for c in text if not is_shown(c)), None)
    return None if strange is None else f"has the character U+{ord(strange):04X}"


def _demanded(problem_of, remedy: str) -> AfterValidator:
    def check(value: str) -> str:
        problem = problem_of(value)
        if problem:
            raise Refusal(problem, remedy)
        return value

    return AfterValidator(check)


# for schemas
Word = Annotated[str, _demanded(word_problem, REMEDY_WORD)]
Name = Annotated[str, _demanded(name_problem, REMEDY_NAME)]
SignalPath = Annotated[str, _demanded(path_problem, REMEDY_PATH)]
Line = Annotated[str, _demanded(text_problem, REMEDY_TEXT)]
