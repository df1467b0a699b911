"""Places of a C header where a change must be noticed by a good test, or a proof: tokens of C, nothing compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from places import Mutation

TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/)|(?P<line>^\#[^\n]*)|(?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\b)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<op>->|<=|>=|==|!=|&&|\|\||\+\+|[-+*/<>!&=?:;,.(){}\[\]])",
    re.DOTALL | re.MULTILINE,
)
SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
    "&&": "||", "||": "&&",
}  # fmt: skip
TYPES = {"int", "double", "int64_t", "int16_t", "uint16_t"}
ASSIGNMENT = re.compile(
    r"^\s*((?:if \([^;{]*\) |else )?)([\w>.\-]+ = [^;]*|\w+\([^;{]*\));$", re.MULTILINE
)
DECLARATION = re.compile(
    r"^\s*(?:const |static |struct \w+ \w+|(?:int|double|int64_t) \w+)", re.MULTILINE
)


def find_mutations(text: str) -> list[Mutation]:
    """Return every mutation of the functions and tables of a header, in order of place.

    Parameters
    ----------
    text
        A header of the project: functions, constant tables, enums and structs; the last two are passed over.
    """
    found = [*_of_tokens(text), *_deletions(text)]
    return sorted(found)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield the tokens outside of comments, directives, enums and structs' own declarations."""
    depth, rounds, declared, pending = 0, 0, False, False
    for match in TOKEN.finditer(text):
        if match["comment"] or match["line"]:
            continue
        token = match[0]
        rounds += (token == "(") - (token == ")")
        if depth == 0 and rounds == 0 and token in ("enum", "struct"):
            pending = True
        elif depth == 0 and token in ("(", ";", "="):
            pending = False
        if token == "{":
            declared = declared or (depth == 0 and pending)
            depth += 1
        elif token == "}":
            depth -= 1
            declared = declared and depth > 0
        elif depth > 0 and not declared:
            yield match


def _of_tokens(text: str) -> Iterator[Mutation]:
    before = None
    bracket = False
    for match in _tokens(text):
        token, operand = (
            match[0],
            before is not None and (before["word"] or before["number"] or before[0] in ")]"),
        )
        keyword = before is not None and before[0] in ("return", "if", "for", "else")
        cast = before is not None and before[0] == ")" and _closes_cast(text, before.start())
        binary = operand and not keyword and not cast
        if match["number"] and not bracket:
            yield _change(text, match, "number", _next_number(token))
        elif token == "!":
            yield _change(text, match, "negation", "")
        elif token == "-" and not binary:
            yield _change(text, match, "sign", "+")
        elif token in SWAPS and binary and not (token == "*" and before[0] in TYPES):
            yield _change(text, match, "swap", SWAPS[token])
        bracket = token == "["
        before = match


def _closes_cast(text: str, end: int) -> bool:
    begin = text.rfind("(", 0, end)
    return text[begin + 1 : end].strip() in TYPES


def _deletions(text: str) -> Iterator[Mutation]:
    """Yield the deletion of an assignment or a call that stands on one line."""
    reached = {match.start() for match in _tokens(text)}
    for match in ASSIGNMENT.finditer(text):
        begin = match.start(2)
        if begin in reached and not DECLARATION.match(match[0].lstrip("\n")):
            line = text.count("\n", 0, begin)
            column = begin - (text.rfind("\n", 0, begin) + 1)
            if "\n" not in match[2]:
                yield Mutation(line + 1, column, column + len(match[2]), "deletion", match[2], "")


def _change(text: str, match: re.Match[str], kind: str, new: str) -> Mutation:
    begin = match.start() - (text.rfind("\n", 0, match.start()) + 1)
    return Mutation(
        text.count("\n", 0, match.start()) + 1, begin, begin + len(match[0]), kind, match[0], new
    )


def _next_number(text: str) -> str:
    if text.isdigit():
        return "0" if text == "1" else str(int(text) + 1)
    return f"0x{int(text, 16) ^ 1:04X}" if text.lower().startswith("0x") else f"{text} * 2"
