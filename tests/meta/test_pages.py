"""Pages name files and folders that are there, and the page of the benchmarks names every one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    ROOT / "benchmarks/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
ROOMS = "rt_core|codegen|io_bridge|estimators|rig_configs|rigloop|tests|benchmarks|examples|docs"
READERS_OWN = {"backlash"}  # the block that the tutorial of own blocks makes


def source_files() -> set[str]:
    found = set()
    for room in ROOMS.split("|"):
        found |= {str(path.relative_to(ROOT)) for path in (ROOT / room).rglob("*")}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_folders_that_a_page_names_are_there(page):
    files = source_files()
    ends = {path.rsplit("/", 1)[-1] for path in files}
    missing = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for name in re.findall(r"`([\w./-]+\.(?:py|pyx|pxd|pyi))`", line):
            is_there = (
                any(f"/{path}".endswith(f"/{name}") for path in files)
                if "/" in name
                else name in ends
            )
            if not is_there and name.rsplit("/", 1)[-1].split(".")[0] not in READERS_OWN:
                missing.append(f"line {number}: {name}")
        for name in re.findall(rf"`((?:{ROOMS})/[\w/-]+?)/?`", line):
            if not {name, f"{name}.py", f"{name}.pyx", f"{name}.pxd"} & files:
                missing.append(f"line {number}: {name}")
        for name in re.findall(rf"`((?:{ROOMS})/[\w/.*-]*\*[\w/.*-]*)`", line):
            if not any(ROOT.glob(name)):
                missing.append(f"line {number}: {name}")
    assert not missing


def test_the_page_of_the_benchmarks_names_each_of_them():
    place = ROOT / "benchmarks"
    programs = [
        path
        for path in place.rglob("*.py")
        if "argparse" in path.read_text() or "typer" in path.read_text()
    ]
    measuring = {
        str(path.relative_to(place)) for path in programs if "__main__" in path.read_text()
    }
    named = re.findall(r"^\| `([\w/]+\.py)` \|", (place / "README.md").read_text(), re.M)
    assert sorted(named) == sorted(measuring)
