"""Everything that MuJoCo refuses in an MJCF file, one after the other: each is taken out until it accepts the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple
from xml.etree.ElementTree import Element

from codegen.importers.document import place_of
from codegen.importers.mjcf_values import Labels
from codegen.importers.one_document import Document
from rig_configs.mistakes import Mistake, near

MOST = 60  # mistakes that are looked for
MOST_READ = 400_000  # elements, in all rounds together
MASS = "<inertial> with a mass and moments above 1e-15 kg and kg m², or shapes"
WORDS = re.compile(r"^(?:XML )?(?:Error: )*(.*?)\s*(?:Element (?:name )?'.*)?$", re.DOTALL)
# what MuJoCo says of an element from which something was taken out
FOLLOWING = ("required attribute missing", "mass and inertia of moving", "path ")
NUMBERS = {"pos": "0 0 0", "anchor": "0 0 0", "mass": "1", "coef": "1", "diaginertia": "1 1 1"}
NUMBERS["fullinertia"] = "1 1 1 0 0 0"
HEAD, INDENT = 30, 3  # columns of the printed table
LINE = re.compile(r"line (\d+)\s*$")
QUOTED = re.compile(r"'([^']*)'")


class _Told(NamedTuple):
    """Problem and remedy; `attribute`, if the mistake is in one; `is_whole`: the element goes out with it."""

    problem: str
    remedy: str
    attribute: str = ""
    is_whole: bool = False


TRANSLATED = {
    "repeated name": _Told("is there twice", "rename one", "name"),
    "repeated default class": _Told("is there twice", "rename one", "class", is_whole=True),
    "empty class name": _Told("has no class", "name its class", is_whole=True),
    "multiple orientation": _Told("has several orientations", "keep one of them", is_whole=True),
    "range[0] should be": _Told("does not begin below its end", "exchange the two", "range"),
    "global coordinates": _Told("is not read any more", "write local coordinates", "coordinate"),
    "World body cannot": _Told("would move the world", "put it into a body", is_whole=True),
    "free joint can only": _Told(
        "has a free joint, and does not hang on the world",
        "hang it on the world, or give it three slides and a ball", is_whole=True,
    ),
    "more than 6 dofs": _Told(
        "has joints with more than six freedoms", "share them with a body between", is_whole=True
    ),
    "ball followed by": _Told(
        "has another turning joint after a ball", "share them with a body between", is_whole=True
    ),
}  # fmt: skip


def refusals(
    document: Document,
    attempt: Callable[[str], str],
    schema: str,
    mended: Iterable[tuple[Element, str]] = (),
) -> list[Mistake]:
    """Every mistake for which MuJoCo refuses a document, which is changed on the way.

    Parameters
    ----------
    document : Document
    attempt : callable
        Reads and compiles a text; returns the words with which MuJoCo refuses it, empty if it does not.
    schema : str
        Elements and attributes that MuJoCo knows, as it prints them.
    mended : iterable of (Element, str)
        Attributes whose mistakes are reported already.
    """
    search = _Search(document, schema)
    for element, attribute in mended:
        search.mend(element, attribute)
    found: list[Mistake] = []
    for _ in range(max(2, min(2 * MOST, MOST_READ // document.n_elements))):
        text, lines = document.lines()
        words = attempt(text)
        if not words or len(found) >= MOST:
            break
        told = search.told(words, lines)
        found += told
        if search.is_lost:
            break
    return found


class _Search:
    def __init__(self, document: Document, schema: str) -> None:
        self.document = document
        self.schema = _Schema(schema)
        self.labels = Labels(document.root)
        self.names = {
            tag: {e.get("name", "") for e in document.root.iter(tag)} - {""}
            for tag in ("body", "joint", "site", "geom", "mesh", "material")
        }
        tendons = [tendon for top in document.root.iter("tendon") for tendon in top]
        self.names["tendon"] = {tendon.get("name", "") for tendon in tendons} - {""}
        self.classes = {e.get("class", "") for e in document.root.iter("default")} - {""}
        self.touched: set[Element] = set()
        self.gone: set[str] = set()
        self.seen: set[tuple[Element, str]] = set()
        self.is_lost = False  # MuJoCo does not say where the mistake is

    def mend(self, element: Element, attribute: str) -> None:
        """Take a wrong value out; one that cannot be missing gets numbers that are possible."""
        if attribute in NUMBERS:
            self.touched.add(element)
            element.set(attribute, NUMBERS[attribute])
        else:
            element.attrib.pop(attribute, None)

    def told(self, words: str, lines: dict[int, Element]) -> list[Mistake]:
        """The mistake that MuJoCo means, which is then taken out; none if it follows from one before."""
        line = LINE.search(words)
        element = lines.get(int(line[1])) if line else None
        plain = " ".join(WORDS.sub(r"\1", words).split())
        if element is None or element is self.document.root:
            self.is_lost = True
            return [
                Mistake(
                    place_of(self.document.root),
                    "(file)",
                    plain,
                    "MuJoCo's words; correct the file",
                )
            ]
        quoted = QUOTED.search(plain)
        value = quoted[1] if quoted else ""
        made = self._translated(plain, element, value)
        key = self.labels.of(element)
        follows = value in self.gone or (
            element in self.touched and any(part in plain for part in FOLLOWING)
        )
        given = element.get(made.attribute, "")
        place = place_of(element)
        is_again = (element, plain) in self.seen
        self.seen.add((element, plain))
        if made.attribute and not made.is_whole and not is_again:
            self.mend(element, made.attribute)
        elif made.remedy == f"give it an {MASS}":
            self._give_mass(element)
        else:
            self._take_out(element)
        if follows or is_again:
            return []
        key = f"{key}.{made.attribute}" if made.attribute else key
        if given:
            return [Mistake(place, key, made.problem, made.remedy, given)]
        return [Mistake(place, key, made.problem, made.remedy)]

    def _translated(self, words: str, element: Element, value: str) -> _Told:
        if words.endswith("unrecognized element"):
            known = self.schema.inside.get(self.labels.parent(element), ())
            problem = "is no element that may stand here"
            return _Told(problem, near(element.tag, known), is_whole=True)
        if "unrecognized attribute" in words:
            known = self.schema.attributes.get(element.tag, ())
            return _Told("is no attribute of this element", near(value, known), value)
        if "required attribute missing" in words:
            whole = value not in NUMBERS
            return _Told("is missing", "write it", value, is_whole=whole)
        if (
            "does not have enough data" in words
            or "too much data" in words
            or "bad format" in words
        ):
            return _Told(words.replace(f"attribute '{value}' ", ""), "correct its numbers", value)
        if "unknown default c" in words:
            attribute = "childclass" if "childclass" in words else "class"
            value = element.get(attribute, "")
            return _Told("is no class of the file", near(value, self.classes), attribute)
        if "invalid keyword" in words:
            attribute = next((k for k, v in element.attrib.items() if v == value), "")
            kinds = ("hinge", "slide", "ball", "free")
            remedy = near(value, kinds) if element.tag == "joint" else "see MuJoCo's reference"
            return _Told("is no word that it may have", remedy, attribute)
        if "mass and inertia of moving bodies" in words:
            return _Told("moves, and has no mass or no inertia", f"give it an {MASS}")
        for part, told in TRANSLATED.items():
            if part in words:
                return told
        return self._unknown_name(words, element, value)

    def _unknown_name(self, words: str, element: Element, value: str) -> _Told:
        """A reference to nothing: the attribute is that with the quoted value, here or in an element inside."""
        is_reference = "unknown" in words or "not found" in words or "not recognized" in words
        for inside in element.iter() if is_reference and value else ():
            for attribute, given in inside.attrib.items():
                kind = attribute.rstrip("12")
                if given == value and kind in self.names:
                    problem = f"names the {kind} {value!r}, which is not there"
                    return _Told(problem, near(value, self.names[kind]), is_whole=True)
        return _Told(words, "these are MuJoCo's words; correct it", is_whole=True)

    def _give_mass(self, body: Element) -> None:
        if body in self.touched:
            self._take_out(body)
            return
        self.touched.add(body)
        for inertial in body.findall("inertial"):
            body.remove(inertial)
        given = {"pos": "0 0 0", "mass": "1", "diaginertia": "1 1 1"}
        body.append(body.makeelement("inertial", given))

    def _take_out(self, element: Element) -> None:
        if element.tag == "worldbody":
            self.is_lost = True
            return
        self.gone |= {name for e in element.iter() if (name := e.get("name"))}
        if (parent := self.document.remove(element)) is not None:
            self.touched.add(parent)


class _Schema:
    """Attributes of each element, and elements that may stand in it, from the table that MuJoCo prints."""

    def __init__(self, printed: str) -> None:
        self.attributes: dict[str, set[str]] = {}
        self.inside: dict[str, set[str]] = {}
        open_ones: list[str] = []
        for row in printed.splitlines():
            head, rest = row[:HEAD], row[HEAD:]
            if head.strip():
                tag = head.split()[0].removeprefix("(world)")
                depth = (len(head) - len(head.lstrip())) // INDENT
                open_ones[depth:] = [tag]
                if depth:
                    self.inside.setdefault(open_ones[-2], set()).add(tag)
            self.attributes.setdefault(open_ones[-1], set()).update(rest.split())
        bodies = self.inside.get("body", set()) | {"body", "frame", "replicate"}
        self.inside |= dict.fromkeys(("body", "worldbody", "frame", "replicate"), bodies)
        top = self.inside.get("mujoco", set()) - {"body"}
        self.inside["mujoco"] = top | {"worldbody", "include"}
