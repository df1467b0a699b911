"""The kernels and observer models of a rig: built, or taken from the cache, before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from codegen.kernels.build import BuiltKernel
from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.schema import BlockTable
from rigloop.blocks.catalogue import kind_of
from rigloop.blocks.kind import Making
from rigloop.compose.consent import require_consent


def build_kernels(
    loaded: LoadedRig,
    on_stage: Callable[[str, str], None] = lambda name, stage: None,
    only: type[BlockTable] = BlockTable,
) -> dict[str, BuiltKernel]:
    """Build what the blocks of a rig are generated from.

    Parameters
    ----------
    on_stage : callable
        Called with the block's name and what is done for it now.
    only : type of BlockTable
        Blocks to build for.

    Raises
    ------
    NotTrustedError
        It has blocks of its own whose code nobody has trusted; nothing was built.
    ConfigError
        An observer cannot be: an unknown input that its sensors do not tell, or a start where the
        mechanism cannot be put together.
    """
    rig = loaded.rig
    if only is BlockTable:
        require_consent(loaded)
    built = {}
    for name, block in rig.blocks.items():
        build = kind_of(block).build
        if build is not None and isinstance(block, only):
            built[name] = build(str(loaded.path), rig, name, partial(on_stage, name))
    mistakes = list(_unfit(loaded, built))
    if mistakes:
        raise ConfigError(mistakes)
    return built


def _unfit(loaded: LoadedRig, built: Mapping[str, BuiltKernel]) -> Iterator[Mistake]:
    """Find blocks that cannot do what they are asked for, now that their kernels are there."""
    rig = loaded.rig
    for name, kernel in built.items():
        making = Making(rig, name, rig.blocks[name], kernel)
        for mistake in kind_of(rig.blocks[name]).fit(making):
            yield replace(mistake, file=str(loaded.path))
