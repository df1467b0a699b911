"""`rigloop runs`: run folders as a list, their tags, and which are kept; `rigloop show` and `rigloop diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rigloop.console.answers import JsonOption, answer, errors_as_lines
from rigloop.console.screen import Screen

LIST = "list"
FolderArgument = Annotated[
    Path, typer.Argument(help="Folder with the run folders.", readable=False)
]
RunArgument = Annotated[Path, typer.Argument(help="Folder of a run.", readable=False)]


class ListingGroup(TyperGroup):
    """A group that lists, unless one of its commands is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `list` before arguments that name no command."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [LIST, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=ListingGroup,
    add_completion=False,
    rich_markup_mode="markdown",
    help="List the runs of a folder; tag them, and remove old ones.",
    epilog="Example: `rigloop runs runs --tag good`",
)


@app.callback()
def _runs() -> None:
    """List the runs of a folder; tag them, and remove old ones."""


@app.command(LIST, epilog="Example: `rigloop runs runs --tag good`")
def list_runs(
    folder: FolderArgument = Path("runs"),
    tag: Annotated[str | None, typer.Option(help="Only runs with this tag.")] = None,
    rig: Annotated[str | None, typer.Option(help="Only runs of this rig.")] = None,
    json: JsonOption = False,
) -> None:
    """List the runs of a folder: start, rig, length, verdict, tags, size. `rigloop runs FOLDER` is the same."""
    from rigloop.runs.found import find_runs
    from rigloop.runs.view import show_runs

    with errors_as_lines(json):
        runs, unreadable = find_runs(folder)
    runs = [r for r in runs if (tag is None or tag in r.tags) and (rig is None or r.rig == rig)]
    message = {"runs": runs, "unreadable": unreadable}
    answer(message, lambda: show_runs(runs, unreadable, Screen()), json)


@app.command(epilog="Example: `rigloop runs tag runs/20260102-030405-steering_wheel stiff`")
def tag(
    run: RunArgument,
    tags: Annotated[list[str] | None, typer.Argument(help="Tags to add.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="Tag to remove; repeatable.")] = None,
    json: JsonOption = False,
) -> None:
    """Tag a run: a tagged run is never pruned."""
    from rigloop.run_folder.manifest import read_manifest
    from rigloop.runs.tags import change_tags

    with errors_as_lines(json):
        read_manifest(run)
        there = change_tags(run, tags or (), remove or ())
    said = ", ".join(there) or "no tags"
    answer({"run": str(run), "tags": there}, lambda: Screen().print(said, highlight=False), json)


@app.command(epilog="Example: `rigloop runs prune runs --keep 20 --yes`")
def prune(
    folder: FolderArgument = Path("runs"),
    keep: Annotated[int, typer.Option(min=0, help="Number of newest runs that stay.")] = ...,  # type: ignore[assignment]
    older_than: Annotated[
        float | None,
        typer.Option(min=0, help="Remove only runs that began at least this number of days ago."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove the runs; without this option nothing is removed.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Remove old runs, or list those that would be removed. Tagged runs, active runs and folders that are not run
    folders always stay. The exit code is 1 if a run could not be removed.
    """
    from rigloop.runs.found import find_runs
    from rigloop.runs.prune import carry_out, plan_pruning
    from rigloop.runs.view import show_plan

    with errors_as_lines(json):
        runs, _ = find_runs(folder)
        plan = plan_pruning(runs, keep=keep, older_than_days=older_than)
        if yes:
            plan = carry_out(plan)
    message = {
        "go": plan.go,
        "stay": plan.stay,
        "failed": plan.failed,
        "bytes": plan.bytes,
        "removed": yes,
    }
    answer(message, lambda: show_plan(plan, yes, Screen()), json, good=not plan.failed)


def show(run: RunArgument, json: JsonOption = False) -> None:
    """Show one run: verdict, tasks, kernels, events, tags."""
    from rigloop.runs.shown import show_of
    from rigloop.runs.view import show_run

    with errors_as_lines(json):
        shown = show_of(run)
    answer(shown, lambda: show_run(shown, Screen()), json)


def diff(
    before: RunArgument,
    after: Annotated[Path, typer.Argument(help="Folder of the other run.", readable=False)],
    json: JsonOption = False,
) -> None:
    """Compare two runs: configuration, kernels, host, timing, and every signal bit for bit.

    The exit code is 0 only if configuration, kernels, signals, cycles and every bit are the same in both runs.
    """
    from rigloop.runs.diff import diff_runs
    from rigloop.runs.view import show_diff

    with errors_as_lines(json):
        found = diff_runs(before, after)
    message = {"equal": found.is_equal, "words": found.signals.words(), "diff": found}
    answer(message, lambda: show_diff(found, Screen()), json, good=found.is_equal)
