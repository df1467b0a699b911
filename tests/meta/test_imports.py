"""Who may import whom: ARCHITECTURE.md's table, read from the page itself."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("rt_core", "codegen", "estimators", "io_bridge", "rig_configs", "rigloop")
INCLUDE = re.compile(r'(?:extern from|#include) "(\w+/[\w/]+)\.h"')
CIMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import\s+\(?([\w, ]*)|c?import\s+([\w.]+))")


def allowed_arrows() -> dict[str, set[str]]:
    """Return the table of ARCHITECTURE.md: room → the rooms that it may import."""
    table = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and cells[0].strip("`") in ROOMS:
            named = set(re.findall(r"`(\w+)`", cells[2]))
            table[cells[0].strip("`")] = set(ROOMS) if cells[2] == "all" else named
    return table


@cache
def imported_modules(path: Path) -> set[str]:
    """Return the dotted names that a .py, .pyx or .pxd file imports or cimports; of it or a .h, what it includes."""
    text = path.read_text()
    if path.suffix == ".py":
        names = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return names
    names = {header.replace("/", ".") for header in INCLUDE.findall(text)}
    for match in filter(None, map(CIMPORT.match, text.splitlines())):
        source, members, alone = match.groups()
        names.add(source or alone)
        names |= {
            f"{source}.{member.split()[0]}"
            for member in (members or "").split(",")
            if member.strip()
        }
    return names


def folder(module: str) -> str:
    """Return the folder, as a dotted name, in which a module lies."""
    path = ROOT / module.replace(".", "/")
    return module if path.is_dir() else module.rpartition(".")[0]


def module_of(name: str) -> str | None:
    """Return the module that an imported name is, or belongs to; None for libraries."""
    while name.split(".")[0] in ROOMS:
        path = ROOT / name.replace(".", "/")
        if path.is_dir() or any(
            path.with_suffix(s).exists() for s in (".py", ".pyx", ".pxd", ".h")
        ):
            return name
        name = name.rpartition(".")[0]
    return None


@cache
def arrows() -> dict[str, set[str]]:
    """Return which module imports which others, wherever in it that stands."""
    found: dict[str, set[str]] = {}
    for room in ROOMS:
        for path in sources(room):
            here = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            there = {module_of(name) for name in imported_modules(path)} - {None, here}
            found.setdefault(here, set()).update(there)
    return found


def folder_arrows() -> dict[str, set[str]]:
    """Return which folder imports from which others."""
    found: dict[str, set[str]] = {}
    for here, there in arrows().items():
        found.setdefault(folder(here), set()).update({folder(n) for n in there} - {folder(here)})
    return found


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return what imports each other in a circle, and what leads into it; none where all are in layers."""
    left = {here: set(there) for here, there in arrows.items()}
    while free := [here for here, there in left.items() if not there & left.keys()]:
        for here in free:
            del left[here]
    return sorted(left)


def sources(room: str) -> list[Path]:
    return sorted(
        path for path in (ROOT / room).rglob("*") if path.suffix in {".py", ".pyx", ".pxd", ".h"}
    )


def test_architecture_names_every_room():
    assert set(allowed_arrows()) == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_room_imports_only_what_architecture_allows(room):
    allowed = allowed_arrows()[room] | {room}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(room)
        for name in imported_modules(path)
        if name.split(".")[0] in ROOMS and name.split(".")[0] not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("library", ["pysoem", "zmq"])
def test_only_io_bridge_imports_the_wire_libraries(library):
    users = {
        path.relative_to(ROOT).parts[0]
        for room in ROOMS
        for path in sources(room)
        if any(name.split(".")[0] == library for name in imported_modules(path))
    }
    assert users <= {"io_bridge"}


def test_every_cython_module_has_a_stub():
    bare = [
        str(p.relative_to(ROOT))
        for room in ROOMS
        for p in sources(room)
        if p.suffix == ".pyx" and not p.with_suffix(".pyi").exists()
    ]
    assert not bare


def test_folders_are_in_layers():
    assert not circle(folder_arrows()), "these import each other in a circle"


def test_modules_are_in_layers():
    assert not circle(arrows()), "these import each other in a circle"


def test_members_of_a_cimport_are_seen_as_modules(tmp_path):
    path = tmp_path / "made.pyx"
    path.write_text(
        "from rt_core cimport block as b, plan\ncimport rt_core.untold\n"
        "from rt_core.loop.loop import (\n    Loop,\n)\n"
    )
    assert imported_modules(path) == {
        "rt_core",
        "rt_core.block",
        "rt_core.plan",
        "rt_core.untold",
        "rt_core.loop.loop",
    }


def test_a_circle_is_seen():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]
    assert not circle({"a": {"b", "c"}, "b": {"c"}, "c": set()})
