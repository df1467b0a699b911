"""Plain English in docstrings, comments and pages: a docstring names its subject, and field terms stand for riddles."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (
    "rt_core",
    "codegen",
    "estimators",
    "io_bridge",
    "rig_configs",
    "rigloop",
    "benchmarks",
    "examples",
)
HEADLESS = re.compile(
    r"(?:What|Whatever|Whether|Where|When|How|Who|Whoever|Whom|Whose|Which|Why|That|Those|Of)\b"
)
# pattern -> its replacement; none of these has a use here that the replacement would spoil
SWAPS = {
    r"\banew\b": "again",
    r"\bon end\b": "consecutive",
    r"\b(?:am|are|is|was|were) told\b": "reported",
    r"\btold (?:apart|anew|by name|once|only)\b": "reported, or distinguished",
    r"\bso many(?:-th)?\b": "N, or a number of",
    r"\bless (?:the|what|theirs|those)\b": "minus",
    r"\b(?:is|are|was) no (?:number|file|text|row|row of|noise|mistake|part of|fault of)\b": "is not a",
    r"\b(?:is|are) none of (?:ours|them|this)\b": "is not one of",
    r"\bgoes? on behind\b": "continues after",
}
# tables of a page that a command prints
SHOWN = re.compile(r"<!-- rigloop .*?<!-- end -->", re.DOTALL)
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)

Place = tuple[int, str]


def line_of(text: str, index: int) -> int:
    return text.count("\n", 0, index) + 1


def docstrings(path: Path) -> Iterator[Place]:
    """Yield line and text of every docstring, those of attributes too."""
    text = path.read_text()
    if path.suffix in {".py", ".pyi"}:
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Expr(value=ast.Constant(value=str(found))):
                    yield node.lineno, found
    else:
        for match in DOCSTRING.finditer(text):
            yield line_of(text, match.start()), match[1]


def comments(path: Path) -> Iterator[Place]:
    """Yield line and text of every comment; in Cython, of whatever follows a space and a `#`."""
    text = path.read_text()
    if path.suffix in {".py", ".pyi"}:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    else:
        for match in COMMENT.finditer(text):
            yield line_of(text, match.start()), match[0]


def sources(*folders: str) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".pyx", ".pxd", ".pyi"}
    )


def headless(paths: list[Path]) -> list[str]:
    """Return each docstring that begins with a question word or an attribute, with its place."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {text.strip().splitlines()[0]}"
        for path in paths
        for line, text in docstrings(path)
        if HEADLESS.match(text.strip())
    ]


@cache
def prose() -> tuple[tuple[Path, int, str], ...]:
    """Return docstrings and comments of the rooms, and the pages; read once for all words."""
    return tuple(_prose())


def _prose() -> Iterator[tuple[Path, int, str]]:
    """Yield docstrings and comments of the rooms, and the pages."""
    for path in sources(*ROOMS):
        yield from ((path, line, text) for line, text in docstrings(path))
        yield from ((path, line, text) for line, text in comments(path))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text()
        yield path, 1, SHOWN.sub(lambda shown: "\n" * shown[0].count("\n"), text)


@pytest.mark.parametrize("room", ROOMS)
def test_a_docstring_names_its_subject_or_says_what_to_do(room):
    assert not headless(sources(room))


@pytest.mark.parametrize(("word", "instead"), SWAPS.items())
def test_no_text_has_a_word_for_which_there_is_a_plain_one(word, instead):
    found = [
        f"{path.relative_to(ROOT)}:{line + line_of(text, match.start()) - 1}: {match[0]}"
        for path, line, text in prose()
        for match in re.finditer(word, text, re.IGNORECASE)
    ]
    assert not found, f"write {instead!r}"


def test_the_search_sees_a_headless_docstring_in_python_and_in_cython(tmp_path):
    for name, text in {
        "a.py": 'X = 1\n"""What X is."""\n',
        "a.pyx": 'cdef int f() nogil:\n    """Whether it is."""\n    return 0  # anew\n',
    }.items():
        (tmp_path / name).write_text(text)
        assert [text for _, text in docstrings(tmp_path / name) if HEADLESS.match(text)]
    assert [line for line, text in comments(tmp_path / "a.pyx") if "anew" in text] == [3]
