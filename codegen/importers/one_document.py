"""An MJCF file with all that it includes as one document, whose lines lead back to the elements of the files."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from codegen.description.mechanism import MechanismError
from codegen.importers.document import MOST_ELEMENTS, parse, place_of
from rig_configs.mistakes import Mistake


class Document:
    """One tree of elements.

    Attributes
    ----------
    root : Element
        With the included elements where `include` was.
    mistakes : list of Mistake
        Files that are not there, or include themselves.
    n_elements : int
        With those of the included files.
    """

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.mistakes: list[Mistake] = []
        self.root = parse(path)
        self.n_elements = 0
        self._put_in(self.root, (Path(os.path.realpath(path)),))

    def _put_in(self, root: Element, inside: tuple[Path, ...]) -> None:
        """Replace `include` by the elements of its file; `inside` are the files that are open."""
        waiting = [root]
        while waiting:
            element = waiting.pop()
            self.n_elements += 1
            if self.n_elements > MOST_ELEMENTS:
                problem = f"has more than {MOST_ELEMENTS} elements with its includes"
                raise MechanismError([Mistake(place_of(root), "include", problem, "simplify it")])
            for child in list(element):
                if child.tag == "include":
                    place = list(element).index(child)
                    element[place : place + 1] = self._included(child, inside)
            waiting += element

    def _included(self, include: Element, inside: tuple[Path, ...]) -> list[Element]:
        name = include.get("file", "")
        file = Path(os.path.realpath(self.folder / name))
        if not name or not file.is_file():
            problem = "names no file that is there" if name else "has no file"
            wrong = Mistake(place_of(include), "include.file", problem, "correct it", name)
        elif file in inside:
            problem = (
                "includes itself" if file == inside[-1] else "includes a file that includes it"
            )
            wrong = Mistake(
                place_of(include), "include.file", problem, "take one of them out", name
            )
        else:
            root = parse(file)
            self._put_in(root, (*inside, file))
            return list(root)
        self.mistakes.append(wrong)
        return []

    def remove(self, element: Element) -> Element | None:
        """Take an element out, with all that is in it; return where it stood."""
        parent = next((e for e in self.root.iter() if element in list(e)), None)
        if parent is not None:
            parent.remove(element)
        return parent

    def lines(self) -> tuple[str, dict[int, Element]]:
        """Return the text, and the element that begins on each of its lines."""
        shown = copy.deepcopy(self.root)
        for element in shown.iter():
            element.tail = "\n"
            element.text = "\n" if len(element) else None
        found: dict[int, Element] = {}
        text = tostring(shown, encoding="unicode")
        waiting = [(self.root, False)]
        line = 1
        while waiting:
            element, is_end = waiting.pop()
            if not is_end:
                found[line] = element
                if len(element):
                    waiting.append((element, True))
                    waiting += ((child, False) for child in reversed(element))
            line += 1
        return text, found
