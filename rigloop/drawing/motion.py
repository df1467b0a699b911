"""A mechanism in motion: what it did in a recorded run, or what it does when left alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.analysis.file_coordinates import FileCoordinates
from codegen.description.mechanism import Mechanism, MechanismError, load
from codegen.equations.equations import LARGE
from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions
from codegen.pose.assembly import assemble
from codegen.topology.motion import topology
from codegen.tree.mechanism import no_tree
from rig_configs.load import LoadedRig
from rig_configs.mistakes import Mistake, near
from rig_configs.ports import write_path
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.blocks.mechanisms import kernel_options
from rigloop.compose.wiring import load as load_rig
from rigloop.run_folder.manifest import ManifestError, read_manifest
from rigloop.run_folder.recorded import read_record

FRAMES_PER_S = 25.0
MOST_OF_FILE = 40  # coordinates of a tree in the file up to which its kernel steps these
MOST_FRAMES = 750  # a longer motion is filmed with fewer frames a second
HELD = "a guide holds it"


@dataclass(frozen=True)
class Motion:
    """Poses at equal times.

    Attributes
    ----------
    frame_s : float
        Between two poses.
    q : ndarray, shape (n_frames, n_q)
    title : str
        What moves it.
    notes : tuple of str
        What a viewer should know.
    """

    frame_s: float
    q: NDArray[np.float64]
    title: str
    notes: tuple[str, ...] = ()


Progress = Callable[[int, int], None]


def _every(n_steps: int, step_s: float) -> int:
    """Steps from frame to frame."""
    wanted = max(1, round(1.0 / (FRAMES_PER_S * step_s)))
    return max(wanted, math.ceil(n_steps / MOST_FRAMES))


def motion_of_run(run: Path, mechanism: Mechanism, tell: Progress) -> Motion:
    """Step the run's own kernel over the inputs that it saw.

    Raises
    ------
    ManifestError
        The folder holds no run, or none of this mechanism; names what there is.
    """
    manifest = read_manifest(run)
    loaded = load_rig(str(run / "rig.toml"))
    if loaded.sha256 != manifest.rig.sha256:
        raise ManifestError(f"{run}/rig.toml: not the rig of the run: changed since")
    name, block = _block(run, loaded, mechanism)
    step_us = loaded.rig.period_us(name)
    task = next(t for t, config in loaded.rig.tasks.items() if name in config.blocks)
    record = read_record(run / manifest.tasks[task].record)
    if not len(record):
        raise ManifestError(f"{run}: the record of {task} has no cycle")
    module = build_kernel(block.mechanism, kernel_options(loaded.rig, name)).module
    kernel = module.Kernel(name)
    kernel.parameters = block.parameters
    inputs = {port: np.asarray(record[block.reads[port]]) for port in module.READ_PORTS}
    n_guide = 3 * len(module.model_info()["guides"])
    guide = [inputs[port] for port in module.READ_PORTS[:n_guide]]
    signals = {port: inputs[port] for port in module.READ_PORTS[n_guide:]}
    table = block.model_dump()
    shown = {
        port: record[path]
        for port in module.WRITE_PORTS
        if port in kernel.outputs
        and (path := write_path(name, table, port)) in (record.dtype.names or ())
    }
    every = _every(len(record), step_us * 1e-6)
    of_file = _file_coordinates(mechanism, module)
    poses, differs = [], 0
    for k in range(len(record)):
        if signals:
            kernel.signals = {port: values[k] for port, values in signals.items()}
        kernel.step(*(values[k] for values in guide))
        if k % every == 0:
            poses.append(of_file.at(kernel.q))
            now = kernel.outputs
            differs += any(now[port] != values[k] for port, values in shown.items())
            tell(k, len(record))
    notes: tuple[str, ...] = ()
    if differs:
        notes = (f"outputs differ from the recorded ones in {differs} of {len(poses)} frames",)
    title = f"{mechanism.name} in {run.name}"
    return Motion(every * step_us * 1e-6, np.array(poses), title, notes)


def _file_coordinates(mechanism: Mechanism, module: Any) -> FileCoordinates:
    names = [name for name, _ in module.model_info()["coordinates"]]
    return FileCoordinates(mechanism.system, names)


def _block(run: Path, loaded: LoadedRig, mechanism: Mechanism) -> tuple[str, MechanismBlock]:
    found = {
        name: block
        for name, block in loaded.rig.blocks.items()
        if isinstance(block, MechanismBlock)
    }
    for name, block in found.items():
        if load(block.mechanism).sha256 == mechanism.sha256:
            return name, block
    there = [block.mechanism for block in found.values()]
    raise ManifestError(
        f"{run}: no block of this run is the mechanism {mechanism.name!r}; {near('', there)}"
    )


def _options(mechanism: Mechanism) -> KernelOptions:
    """Options of the default, or of a tree whose coordinates in the file take minutes to order."""
    system = mechanism.system
    if len(system.coordinates) <= MOST_OF_FILE or no_tree(
        motion := topology(system), "articulated"
    ):
        return KernelOptions()
    is_short = len(motion.tree.coordinates) <= LARGE
    return KernelOptions(formulation="semi_recursive" if is_short else "articulated")


def free_motion(path: Path, mechanism: Mechanism, seconds: float, tell: Progress) -> Motion:
    """Let a mechanism move from its file's pose and rates; guides hold their coordinates.

    Raises
    ------
    MechanismError
        Nothing can move.
    """
    if assemble(mechanism).dof == 0:  # type: ignore[arg-type]
        problem, remedy = "guides leave it no freedom", "film a run: --run FOLDER"
        raise MechanismError([Mistake(str(path), "--simulate", problem, remedy)])
    options = _options(mechanism)
    module = build_kernel(path, options).module
    of_file = _file_coordinates(mechanism, module)
    kernel = module.Kernel()
    guide: list[float] = []
    for g in mechanism.system.guides:
        guide += [g.coordinate.initial, 0.0, 0.0]
    kernel.reset(*guide)
    n_steps = max(1, round(seconds / options.step_s))
    every = _every(n_steps, options.step_s)
    poses = [of_file.at(kernel.q)]
    notes = tuple(f"{g.coordinate.name}: {HELD}" for g in mechanism.system.guides)
    for k in range(1, n_steps + 1):
        status = kernel.step(*guide)
        if status != 0:
            notes = (*notes, f"ends at {k * options.step_s:.3f} s: status {status} of the kernel")
            break
        if k % every == 0:
            poses.append(of_file.at(kernel.q))
            tell(k, n_steps)
    return Motion(every * options.step_s, np.array(poses), f"{mechanism.name}, free", notes)
