"""Walks down expressions without Python's own stack: models are as deep as they are long.

A step is a generator. Where it would call itself for an argument it yields that call, and gets the value
back; at its end it returns its own. The order of all steps is that of plain recursion.

    def depth(e):
        deepest = 0
        for arg in e.args:
            deepest = max(deepest, (yield depth(arg)))
        return 1 + deepest

    descend(depth(expr))
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")
Steps = Generator[Any, Any, T]


def descend(first: Steps[T]) -> T:
    """Value of a step and of all that it asks for."""
    waiting: list[Steps[Any]] = [first]
    value: Any = None
    while waiting:
        try:
            wanted = waiting[-1].send(value)
        except StopIteration as done:
            waiting.pop()
            value = done.value
        else:
            waiting.append(wanted)
            value = None
    return value
