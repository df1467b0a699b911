"""The kernels of a rig: built, or taken from the cache, before anything starts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from codegen.build import BuiltKernel, build_kernel
from codegen.options import KernelOptions
from rig_configs.load import LoadedRig
from rig_configs.schema import MechanismBlock, Rig


def kernel_options(block: MechanismBlock, step_s: float) -> KernelOptions:
    """Return how the kernel of a mechanism block integrates."""
    return KernelOptions(
        step_s=step_s,
        integrator=block.integrator,
        rho_inf=block.rho_inf,
        kappa=block.kappa,
        iterations=block.iterations,
        reaction=block.reaction,
    )


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
            kernel_options(block, period_us(rig, name) * 1e-6),
            on_stage=partial(on_stage, name),
        )
        for name, block in rig.blocks.items()
        if isinstance(block, MechanismBlock)
    }
