"""The conversation of a walk: a terminal, or a list of answers; and the hands of the person who answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from rigloop.commission.hands import Act

INDENT = 7


class NoHandError(RuntimeError):
    """A step needs a hand, and nobody answers."""


class Talk(Protocol):
    """Somebody who answers."""

    def tell(self, text: str, tone: str = "") -> None:
        """Say something."""

    def head(self, number: str, title: str) -> None:
        """Begin a step."""

    def wait(self, text: str) -> None:
        """Ask for something to be done, and return once it is."""

    def ask(self, text: str) -> str:
        """Ask for a line of text."""


class TerminalTalk:
    """A conversation on a terminal, calm on 80 columns.

    Parameters
    ----------
    console : Console
    answers : iterable of str, optional
        Take the place of the keyboard, in this order.
    """

    def __init__(self, console: Console, answers: Iterable[str] | None = None) -> None:
        self._console = console
        self._answers = None if answers is None else iter(answers)

    def tell(self, text: str, tone: str = "") -> None:
        """Print a paragraph, indented."""
        indented = Padding(Text(text, tone), (0, 0, 0, INDENT), expand=False)
        self._console.print(indented, highlight=False)

    def head(self, number: str, title: str) -> None:
        """Print the head of a step behind an empty line."""
        self._console.print()
        self._console.print(Text.assemble((f"{number:>5}  ", "dim"), (title, "bold")))

    def wait(self, text: str) -> None:
        """Print what is to be done, and wait for Enter."""
        self.tell(text)
        self._line("[Enter] ")

    def ask(self, text: str) -> str:
        """Print a question and return the line that is typed."""
        self.tell(text)
        return self._line("> ")

    def _line(self, prompt: str) -> str:
        if self._answers is not None:
            try:
                answer = next(self._answers)
            except StopIteration:
                raise NoHandError("the answers are used up") from None
            self.tell(f"{prompt}{answer}", "dim")
            return answer
        try:
            return self._console.input(Text(" " * INDENT + prompt, "dim"))
        except EOFError:
            raise NoHandError("there is no answer: the input has ended") from None


class SilentTalk(TerminalTalk):
    """A conversation in which nobody answers: it says yes to what needs no hand."""

    def wait(self, text: str) -> None:
        """Go on."""
        self.tell(text)

    def ask(self, text: str) -> str:
        """Return nothing."""
        self.tell(text)
        return ""


class PersonHands:
    """The hands of whoever answers.

    Parameters
    ----------
    talk : Talk
    answers : bool
        False: nobody is there, and `--yes` fakes no hand.
    """

    def __init__(self, talk: Talk, answers: bool = True) -> None:
        self._talk = talk
        self._answers = answers

    def do(self, act: Act) -> None:
        """Ask for an act.

        Raises
        ------
        NoHandError
            Nobody is there.
        """
        if not self._answers:
            raise NoHandError("this step needs a hand, and --yes is none")
        if act is Act.PRESS_STOP:
            self._talk.tell(act.value, "bold")
        else:
            self._talk.wait(act.value)
