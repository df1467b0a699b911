"""A robot file from outside as a tree, with bounded cost; and whether the files that it names may be read."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from codegen.description.mechanism import MechanismError
from rig_configs.bounded import open_regular
from rig_configs.mistakes import Mistake

MOST_BYTES = 16 << 20
MOST_DEPTH = 400  # below the limit of MuJoCo's own reader
MOST_ELEMENTS = 100_000
MOST_SHAPE_BYTES = 256 << 20
CHUNK = 1 << 16
NO_AXIS = "its axis has no direction"
SHAPES = ("mesh", "hfield", "texture", "skin", "flexcomp")  # elements that name a file
MOST_FILES = 64  # that include each other


class Placed(Element):
    """An element that knows its file and line."""

    place = ""


class _Builder(TreeBuilder):
    """Builds elements, and gives up on trees that no robot has."""

    def __init__(self, file: str) -> None:
        super().__init__(element_factory=Placed)
        self.depth = self.n_elements = 0
        self.file = file
        self.expat: Any = None

    def start(self, tag: Any, attrs: Any) -> Any:
        self.depth += 1
        self.n_elements += 1
        if self.depth > MOST_DEPTH:
            raise ValueError(f"more than {MOST_DEPTH} levels")
        if self.n_elements > MOST_ELEMENTS:
            raise ValueError(f"more than {MOST_ELEMENTS} elements")
        element: Any = super().start(tag, attrs)
        element.place = f"{self.file}:{self.expat.CurrentLineNumber}"
        return element

    def end(self, tag: Any) -> Any:
        self.depth -= 1
        return super().end(tag)


def parse(path: Path) -> Element:
    """Root of a file, which has no document type and no entities.

    Raises
    ------
    MechanismError
        It cannot be read, or is not such a file.
    """

    def refused(problem: str, remedy: str) -> MechanismError:
        return MechanismError([Mistake(str(path), "(file)", problem, remedy)])

    builder = _Builder(path.name)
    parser = DefusedXMLParser(target=builder, forbid_dtd=True)
    builder.expat = parser.parser
    n_bytes = 0
    try:
        with open_regular(path) as file:
            while chunk := file.read(CHUNK):
                n_bytes += len(chunk)
                if n_bytes > MOST_BYTES:
                    raise refused(f"is larger than {MOST_BYTES} bytes", "give a robot file")
                parser.feed(chunk)
        return parser.close()
    except OSError as error:
        if error.errno == errno.EINVAL:  # the path exists, but is another kind of thing
            raise refused("is no file", "give a URDF or MJCF file") from None
        raise refused(f"cannot be read: {error.strerror}", "give a URDF or MJCF file") from None
    except DefusedXmlException:
        problem = "has a document type or entities"
        raise refused(problem, "take them out: no robot file needs them") from None
    except (ParseError, ValueError, LookupError) as error:
        raise refused(f"is not XML ({error})", "correct the line") from None


def place_of(element: Element) -> str:
    """File and line of an element, as compilers write them."""
    return getattr(element, "place", "")


def by_line(mistake: Mistake) -> tuple[str, int]:
    """Sort mistakes of files in the order of their lines."""
    file, _, line = mistake.file.rpartition(":")
    return file, int(line) if line.isdigit() else 0


def is_nothing(numbers: str) -> bool:
    """Return whether an attribute is a row of zeros: no direction, and no quaternion."""
    try:
        values = [float(word) for word in numbers.split()]
    except ValueError:
        return False  # whoever reads it says so
    return bool(values) and not any(values)


def family(path: Path) -> list[tuple[Path, Element]]:
    """The file and all that it includes, each once, with their roots.

    Raises
    ------
    MechanismError
        One of them cannot be read, or there are too many.
    """
    found: list[tuple[Path, Element]] = []
    waiting = [path]
    seen: set[Path] = set()
    while waiting:
        file = waiting.pop(0)
        place = Path(os.path.realpath(file))
        if place in seen:
            continue
        seen.add(place)
        if len(seen) > MOST_FILES:
            problem = f"more than {MOST_FILES} files that include each other"
            raise MechanismError([Mistake(str(path), "include", problem, "put them together")])
        root = parse(file)
        found.append((file, root))
        for element in root.iter("include"):
            included = element.get("file", "")
            # where there is none, MuJoCo reports it
            if included and (path.parent / included).exists():
                waiting.append(path.parent / included)
    return found


def refuse_strange_shapes(path: Path, root: Element) -> None:
    """Refuse shapes whose path is not a regular file (a device, a pipe), or is larger than any mesh.

    Raises
    ------
    MechanismError
        With every one of them.
    """
    folders = {path.parent}
    for compiler in root.iter("compiler"):
        for key in ("meshdir", "assetdir", "texturedir"):
            if compiler.get(key):
                folders.add(path.parent / compiler.get(key, ""))
    mistakes = []
    for element in root.iter():
        name = element.get("file") or element.get("filename")
        if element.tag not in SHAPES or not name:
            continue
        for place in {folder / name for folder in folders}:
            if not place.exists():
                continue
            if not place.is_file():
                mistakes.append(
                    Mistake(str(path), f"{element.tag} {name}", "is no file", "give one")
                )
            elif place.stat().st_size > MOST_SHAPE_BYTES:
                problem = f"is larger than {MOST_SHAPE_BYTES} bytes"
                mistakes.append(Mistake(str(path), f"{element.tag} {name}", problem, "simplify it"))
    if mistakes:
        raise MechanismError(mistakes)
