"""Who may import whom: ARCHITECTURE.md's table, read from the page itself."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("rt_core", "codegen", "estimators", "io_bridge", "rig_configs", "rigloop")
CIMPORT = re.compile(
    r"^\s*(?:from\s+([\w.]+)\s+cimport|cimport\s+([\w.]+)|from\s+([\w.]+)\s+import|import\s+([\w.]+))"
)


def allowed_arrows() -> dict[str, set[str]]:
    """Return the table of ARCHITECTURE.md: room → the rooms that it may import."""
    table = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and cells[0].strip("`") in ROOMS:
            named = set(re.findall(r"`(\w+)`", cells[2]))
            table[cells[0].strip("`")] = set(ROOMS) if cells[2] == "all" else named
    return table


def imported_modules(path: Path) -> set[str]:
    """Return the dotted names that a .py, .pyx or .pxd file imports or cimports."""
    text = path.read_text()
    if path.suffix == ".py":
        names = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
        return names
    found = (CIMPORT.match(line) for line in text.splitlines())
    return {next(group for group in match.groups() if group) for match in found if match}


def sources(room: str) -> list[Path]:
    return sorted(
        path for path in (ROOT / room).rglob("*") if path.suffix in {".py", ".pyx", ".pxd"}
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
