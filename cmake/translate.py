"""Translate .pyx files to C in one process: Cython takes six times as long to start as to translate a file.

Called by CMakeLists.txt in the root of the sources, with a folder for the C files, the name of the module that has what
all translations share (views of memory, the Python side of functions), and the files; without files, that module is
written. A file is translated again when it, or something it cimports, is newer than its C.
"""

import sys
from pathlib import Path

from Cython.Build.SharedModule import generate_shared_module
from Cython.Compiler.Main import CompilationOptions
from Cython.Compiler.Main import compile as translate

DIRECTIVES = {
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}


def is_new(text: Path) -> bool:
    """Return whether a C file is there, and no older than what its .dep says that it is made of."""
    made_of = text.with_name(f"{text.name}.dep")
    if not text.exists() or not made_of.exists():
        return False
    names = made_of.read_text().partition(":")[2].replace("\\\n", " ").split()
    sources = [Path(__file__), *map(Path, names)]
    written = text.stat().st_mtime
    return all(path.exists() and path.stat().st_mtime <= written for path in sources)


def main(folder: Path, shared: str, sources: list[str]) -> int:
    """Translate; return how many files have errors, which Cython has printed."""
    if not sources:
        text = folder / Path(*shared.split(".")).with_suffix(".c")
        generate_shared_module(CompilationOptions(shared_c_file_path=str(text)))
        return 0
    failed = 0
    for source in sources:
        text = (folder / source).with_suffix(".c")
        if is_new(text):
            continue
        text.unlink(missing_ok=True)  # no half of an earlier one is compiled
        done = translate(
            source,
            full_module_name=".".join(Path(source).with_suffix("").parts),
            output_file=str(text),
            include_path=["."],
            language_level=3,
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=shared,
            depfile=True,
        )
        failed += done.num_errors > 0
    return failed


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]), 1))
