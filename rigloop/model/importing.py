"""`rigloop model import`: a robot file becomes a mechanism file and a report."""

from __future__ import annotations

from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from codegen.description.mechanism import MechanismError
from codegen.importers.compiled import MissingExtra
from codegen.importers.robot_file import import_file
from codegen.importers.tree import Names
from rig_configs.mistakes import Mistake
from rigloop.model.tables import print_import
from rigloop.run_folder.not_started import NotStartedError


class ReportLine(msgspec.Struct, frozen=True):
    """The fate of one entry of the robot file."""

    status: str
    kind: str
    name: str
    words: str


class ImportReport(msgspec.Struct, frozen=True):
    """The report that `rigloop model import --json` prints."""

    source: str
    file: str
    mechanism: str
    n_coordinates: int
    n_constraints: int
    carried: int
    changed: int
    left_out: int
    items: tuple[ReportLine, ...]


def import_mechanism(
    file: Path, output: Path | None, *, force: bool, console: Console, quiet: bool
) -> ImportReport:
    """Import `file`, write the mechanism, print the report.

    Raises
    ------
    MechanismError
        The robot file has mistakes, or the mechanism file cannot be written; all of them.
    NotStartedError
        The extra `import` is not installed.
    """
    target = output or Path(f"{Names().new(file.stem)}.toml")
    _require_writable(target, force)
    try:
        found = import_file(file, target.stem)
    except MissingExtra as error:
        raise NotStartedError(str(error)) from None
    try:
        found.builder.save(target.parent)
    except OSError as error:
        raise MechanismError(
            [
                Mistake(
                    str(target), "--output", f"cannot be written: {error.strerror}", "give another"
                )
            ]
        ) from None
    system = found.mechanism.system
    report = ImportReport(
        source=str(file),
        file=str(target),
        mechanism=found.mechanism.name,
        n_coordinates=len(system.coordinates),
        n_constraints=len(system.rows),
        carried=found.count("carried"),
        changed=found.count("changed"),
        left_out=found.count("left out"),
        items=tuple(ReportLine(i.status, i.kind, i.name, i.words) for i in found.items),
    )
    if not quiet:
        print_import(found.items, console)
        words = f"{report.carried} carried, {report.changed} changed, {report.left_out} left out"
        console.print(f"\n[green]written[/]  {escape(str(target))}: {words}", highlight=False)
    return report


def _require_writable(target: Path, force: bool) -> None:
    problem = remedy = ""
    if target.suffix != ".toml":
        problem, remedy = "is not a .toml", "end it with .toml"
    elif not target.stem.replace("-", "_").isidentifier():
        problem, remedy = "is not a name for a mechanism", "use letters, digits and _"
    elif not target.parent.is_dir():
        problem, remedy = "its folder is not there", "make it, or give another"
    elif target.exists() and not force:
        problem, remedy = "is there already", "give another name, or --force"
    if problem:
        raise MechanismError([Mistake(str(target), "--output", problem, remedy)])
