"""Arithmetic in a mechanism file as a syntax tree, bounded in length and depth before anything walks it."""

from __future__ import annotations

import ast

LONGEST = 4000  # characters
DEEPEST = 200  # operations inside each other; a sum of N terms is N deep
MOST_NODES = 4000


class SyntaxMistake(ValueError):
    """A text that is not an expression, or more than anyone writes; the message says which."""


def parsed(text: str) -> ast.expr:
    """Syntax tree of an expression.

    Raises
    ------
    SyntaxMistake
        Not an expression; too long or too deep.
    """
    if len(text) > LONGEST:
        raise SyntaxMistake(f"is longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise SyntaxMistake(f"not an expression ({error.msg})") from None
    except (ValueError, MemoryError, RecursionError):
        raise SyntaxMistake("not an expression (it cannot be read)") from None
    waiting: list[tuple[ast.AST, int]] = [(tree, 1)]
    n_nodes = 0
    while waiting:
        node, depth = waiting.pop()
        n_nodes += 1
        if depth > DEEPEST or n_nodes > MOST_NODES:
            raise SyntaxMistake(
                f"is more than {DEEPEST} operations deep: name parts of it in [parameters]"
            )
        waiting += ((inner, depth + 1) for inner in ast.iter_child_nodes(node))
    return tree
