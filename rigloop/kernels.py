"""The kernels of a rig: built, or taken from the cache, before anything starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from codegen.build import BuiltKernel, build_kernel
from codegen.option_text import from_table
from codegen.options import KernelOptions
from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.schema import MechanismBlock, Rig


def kernel_options(rig: Rig, name: str, file: str = "rig") -> KernelOptions:
    """Return how the kernel of a mechanism block integrates and is compiled.

    Raises
    ------
    ConfigError
        With every mistake of its `options`.
    """
    block = rig.blocks[name]
    assert isinstance(block, MechanismBlock)
    # a rig steps its kernels as blocks, which are objects that own their state
    fixed = {"step_s": period_us(rig, name) * 1e-6, "wrapper": "class"}
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
    loaded: LoadedRig, on_stage: Callable[[str, str], None] = lambda name, stage: None
) -> dict[str, BuiltKernel]:
    """Build the kernel of every mechanism block.

    Parameters
    ----------
    on_stage : callable
        Called with the block's name and what is done for it now.
    """
    rig = loaded.rig
    return {
        name: build_kernel(
            block.mechanism,
            kernel_options(rig, name, str(loaded.path)),
            on_stage=partial(on_stage, name),
        )
        for name, block in rig.blocks.items()
        if isinstance(block, MechanismBlock)
    }
