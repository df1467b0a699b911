"""Scripts that no test runs as a whole, benchmarks, fuzzers, proofs and mutants, import only what is there."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "examples", "tests/fuzz", "tests/proof", "tests/mutation")
SCRIPTS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
SHARED = (ROOT / "tests" / "parts", ROOT / "benchmarks" / "logs")
# of extras that the tests do without, and `hostile`, which its fuzzer compiles
OPTIONAL = {"bitwuzla", "exudyn", "filterpy", "hostile", "mujoco", "pinocchio", "pycparser"}


def imported(path):
    """Return the dotted names that a script imports, also inside of functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_script_imports_is_there(script):
    places = [folder for folder in script.parents if folder.is_relative_to(ROOT)]
    for name in imported(script):
        place = name.replace(".", "/")
        is_beside = any(
            (folder / f"{place}.py").exists() or (folder / place / "__init__.py").exists()
            for folder in (*places, *SHARED)
        )
        top = name.partition(".")[0]
        is_known = top in sys.stdlib_module_names or top in OPTIONAL
        assert is_beside or is_known or importlib.util.find_spec(top), f"{script}: {name}"


def test_parts_of_tests_are_imported_in_one_way():
    """A module with two names is loaded twice, and its classes are then not the same."""
    twice = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for name in imported(path)
        if name.startswith("tests.")
    ]
    assert not twice, "import it by its name in tests/parts"
