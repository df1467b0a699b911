"""A what-if: another rig sees what a recorded run saw, and what it makes of it is compared with the record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from io_bridge.recording.record import open_record
from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rigloop.compose.blocks import make_blocks
from rigloop.compose.changed_rig import changed_rig
from rigloop.compose.consent import require_consent
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load
from rigloop.replay.records_again import cut_to_each_other, script_of, whole_records
from rigloop.replay.replay import as_recorded, new_folder, repeatable
from rigloop.replay.replay_manifest import Replayed
from rigloop.replay.script import run_script
from rigloop.replay.verdict import conclude_what_if
from rigloop.run_folder.compared import compare
from rigloop.run_folder.outcome import Outcome
from rigloop.sign_off.limit import limited_rig


def replay_changed(
    run: Path,
    rig: str | None,
    settings: Sequence[str],
    *,
    runs: Path,
    console: Console,
    trusts: bool = False,
    page: bool = True,
) -> Outcome:
    """Step a recorded live run with another rig, or with keys of its own rig changed, and list the differences.

    Parameters
    ----------
    rig : str, optional
        Name or path of the other rig; that of the run if not given.
    settings : sequence of str
        `KEY=VALUE` each, set in that rig.

    Raises
    ------
    ConfigError
        The changed rig has mistakes, or other tasks than the run.
    ManifestError
        The folder holds no live run with whole records, or they lack what the changed rig reads.
    """
    manifest, recorded = repeatable(run)
    with TemporaryDirectory() as made:
        base = recorded if rig is None else load(rig)
        loaded = changed_rig(base, settings, Path(made))
        _require_same_tasks(recorded, loaded)
        require_consent(loaded, trusts=trusts)
        own = as_recorded(loaded.rig, manifest.format) if rig is None else loaded.rig
        stepped = limited_rig(own, manifest.limited)
        kernels = build_kernels(loaded)
        records = whole_records(run, manifest, stepped)
        for words in cut_to_each_other(run, records):
            console.print(words, highlight=False)
        blocks = make_blocks(stepped, kernels)
        plan, script = script_of(run, stepped, blocks, records, compared=False)
        folder = new_folder(runs, f"what-if-{run.name}", loaded)
        pace = run_script(plan, script, folder, console)
        again = {task: open_record(folder / f"{task}.npy") for task in script}
        written = {path for block in blocks.values() for path in block.writes.values()}
        found = compare(records, again, written)
        changed = [*([f"rig {rig}"] if rig is not None else []), *settings]
        done = Replayed(folder, loaded, kernels, pace, page)
        return conclude_what_if(done, run, manifest, found, again, changed)


def _require_same_tasks(recorded: LoadedRig, changed: LoadedRig) -> None:
    file = str(changed.path)
    before = {name: task.period_us for name, task in recorded.rig.tasks.items()}
    after = {name: task.period_us for name, task in changed.rig.tasks.items()}
    if before != after:
        was = ", ".join(f"{name} every {period} µs" for name, period in before.items())
        problem = "the record has the cycles of other tasks"
        raise ConfigError([Mistake(file, "tasks", problem, f"keep those of the run: {was}")])
