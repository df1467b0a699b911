"""The tree itself: sizes of modules, paths of no machine, and all that a wheel has to carry."""

import ast
import re
import subprocess
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 480
MOST_FILES = 25  # of a folder
# where people and machines keep their own things; what the system has everywhere is not meant
MACHINE_PATH = re.compile(r"(?<![\w.~$}/])/(?:home|root|Users|work|tmp|mnt|scratch|data)/[\w.-]+")
TEXT = {
    ".py",
    ".pyx",
    ".pxd",
    ".pyi",
    ".in",
    ".c",
    ".h",
    ".toml",
    ".md",
    ".jinja",
    ".txt",
    ".csv",
    ".cfg",
    "",
}
SHIPPED = {
    "rig_configs": ("rigs/*.toml", "mechanisms/*.toml", "logs/*.toml"),
    "rigloop": (
        "templates/*.jinja",
        "monitor/static/*.html",
        "monitor/static/*.css",
        "monitor/static/js/*.js",
        "monitor/static/js/painting/*.js",
        "monitor/static/vendor/*.js",
        *(
            f"blocks/library/{drawer}/*.{ending}"
            for drawer in (
                "arithmetic",
                "control",
                "filters",
                "limits",
                "logic",
                "sources",
                "tables",
            )
            for ending in ("toml", "c")
        ),
    ),
    "codegen": (
        "bounds/*.in",
        "equations/*.in",
        "formulations/*.in",
        "targets/*.in",
        "observers/*.in",
    ),
    "io_bridge": ("emulator/catalogue/*.toml",),
}


def tracked() -> list[Path]:
    """Files of the project; those that git knows, or all of a source tree without git."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        paths = [ROOT / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        rooms = (*SHIPPED, "rt_core", "estimators", "tests", "docs", "examples")
        paths = [path for room in rooms for path in (ROOT / room).rglob("*")]
    return [path for path in paths if path.is_file() and path.suffix in TEXT]


def test_no_module_is_too_long():
    long = {
        str(path.relative_to(ROOT)): n
        for path in tracked()
        if path.suffix in {".py", ".pyx", ".pxd", ".h", ".in"}
        and path.relative_to(ROOT).parts[0] != "tests"
        and (n := len(path.read_text().splitlines())) > MOST_LINES
    }
    assert not long


def test_no_folder_is_a_warehouse():
    folders = Counter(path.parent.relative_to(ROOT) for path in tracked())
    assert not {str(folder): n for folder, n in folders.items() if n > MOST_FILES}


def test_no_file_names_a_place_of_some_machine():
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        for match in MACHINE_PATH.finditer(path.read_text(errors="replace"))
    ]
    assert not found


@pytest.mark.parametrize(
    ("package", "pattern"),
    [(package, pattern) for package, patterns in SHIPPED.items() for pattern in patterns],
)
def test_what_a_package_reads_at_run_time_is_installed_with_it(package, pattern):
    folder, _, ending = pattern.partition("/*")
    in_tree = {path.name for path in (ROOT / package).glob(pattern)}
    assert in_tree
    installed = resources.files(package) / folder
    assert in_tree <= {f.name for f in installed.iterdir() if f.name.endswith(ending)}
    assert all((installed / name).read_bytes() for name in in_tree)


@pytest.mark.parametrize(
    "room", ["rt_core", "codegen", "io_bridge", "estimators", "rig_configs", "rigloop"]
)
def test_each_folder_says_what_is_in_it_and_where_to_begin(room):
    silent = []
    for folder in {path.parent for path in (ROOT / room).rglob("*.py")}:
        entry = folder / "__init__.py"
        text = (ast.get_docstring(ast.parse(entry.read_text())) or "") if entry.exists() else ""
        if not re.search(r"\b(Start|Begin) with\b|\bHow to add\b|\bBegin at\b", text):
            silent.append(str(folder.relative_to(ROOT)))
    assert not silent
