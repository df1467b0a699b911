"""The kernels and observer models of a rig: built, or taken from the cache, before anything starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from codegen.kernels.build import BuiltKernel, build_kernel
from codegen.observers.build import build_observer
from codegen.observers.spec import FIXED
from codegen.options.option_text import from_table
from codegen.options.options import KernelOptions
from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.schema import MechanismBlock, ObservingBlock, Rig
from rigloop.compose.observer_block import refuse_unfit, spec_of


def kernel_options(rig: Rig, name: str, file: str = "rig") -> KernelOptions:
    """Return how the kernel of a mechanism block, or that in an observer, integrates and is compiled.

    Raises
    ------
    ConfigError
        With every mistake of its `options`.
    """
    block = rig.blocks[name]
    assert isinstance(block, MechanismBlock | ObservingBlock)
    # a rig steps its kernels as blocks, which are objects that own their state
    fixed = {"wrapper": "class"} if isinstance(block, MechanismBlock) else FIXED
    fixed = {"step_s": period_us(rig, name) * 1e-6, **fixed}
    if "compiler" in block.options:  # a rig is data: it names no program to be run
        key = f"blocks.{name}.options.compiler"
        problem, remedy = "a rig file names no program", "set CC in the environment"
        raise ConfigError([Mistake(file, key, problem, remedy, block.options["compiler"])])
    try:
        options = from_table(file, block.options, **fixed)
    except ConfigError as error:
        key = f"blocks.{name}.options"
        raise ConfigError(replace(m, key=f"{key}.{m.key}") for m in error.mistakes) from None
    if options.frozen and block.parameters:
        problem = "parameters of a frozen kernel cannot be set"
        remedy = "take out frozen, or write the values into the mechanism"
        raise ConfigError([Mistake(file, f"blocks.{name}.parameters", problem, remedy)])
    return options


def period_us(rig: Rig, block: str) -> int:
    """Return the period of the task that steps a block."""
    return next(task.period_us for task in rig.tasks.values() if block in task.blocks)


def build_kernels(
    loaded: LoadedRig,
    on_stage: Callable[[str, str], None] = lambda name, stage: None,
    kinds: tuple[type, ...] = (MechanismBlock, ObservingBlock),
) -> dict[str, BuiltKernel]:
    """Build the kernel of every mechanism block, and the model of every observer.

    Parameters
    ----------
    on_stage : callable
        Called with the block's name and what is done for it now.
    kinds : tuple of type
        Blocks to build for.

    Raises
    ------
    ConfigError
        An observer cannot be: an unknown input that its sensors do not tell, or a start where the
        mechanism cannot be put together.
    """
    rig = loaded.rig
    built = {}
    for name, block in rig.blocks.items():
        if not isinstance(block, kinds):
            continue
        options = kernel_options(rig, name, str(loaded.path))
        tell = partial(on_stage, name)
        if isinstance(block, MechanismBlock):
            built[name] = build_kernel(block.mechanism, options, on_stage=tell)
        elif isinstance(block, ObservingBlock):
            spec = spec_of(block.model_dump())
            assert spec is not None
            built[name] = build_observer(block.mechanism, spec, options, on_stage=tell)
    refuse_unfit(loaded, built)
    return built
