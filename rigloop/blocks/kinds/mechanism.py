"""One step of a generated multibody kernel: a mechanism that is described in a file becomes compiled code.

Guides move the mechanism along a measured motion and return the force or torque that this needs; inputs are its other
signals. `docs/models/mechanisms.md` explains how to describe a mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from codegen.kernels.build import BuiltKernel, build_kernel
from codegen.options.statuses import STATUSES
from rig_configs.ports import Ports
from rig_configs.schema import Rig
from rigloop.blocks.kind import BlockKind, Making, Stage
from rigloop.blocks.mechanisms import (
    FAULT_REMEDY,
    OnMechanism,
    facts,
    kernel_options,
    mechanism_mistakes,
)
from rt_core.block import Block


class MechanismBlock(OnMechanism):
    """One step of a generated multibody kernel."""

    # a rig steps its kernels as blocks, which are objects that own their state
    fixed_options = {"wrapper": "class"}

    kind: Literal["mechanism"]


def ports(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of the mechanism's kernel."""
    mechanism = table.get("mechanism")
    return facts(mechanism).ports if isinstance(mechanism, str) else None


def build(file: str, rig: Rig, name: str, on_stage: Stage) -> BuiltKernel:
    """Build the kernel, or take it from the cache."""
    block = rig.blocks[name]
    assert isinstance(block, MechanismBlock)
    return build_kernel(block.mechanism, kernel_options(rig, name, file), on_stage=on_stage)


def make(making: Making) -> Block:
    """Return a kernel of its own state, with the rig's parameters."""
    assert making.kernel is not None, making.name
    # the kernel's own list of ports, so that nothing here has to read the mechanism
    module = making.kernel.module
    kernel: Block = module.Kernel(
        making.name, making.block.reads, making.writes(module.WRITE_PORTS)
    )
    kernel.parameters = making.block.parameters  # type: ignore[attr-defined]
    return kernel


KIND = BlockKind(
    name="mechanism",
    schema=MechanismBlock,
    ports=ports,
    make=make,
    about=__doc__,
    mistakes=mechanism_mistakes,
    build=build,
    faults=STATUSES,
    remedy=FAULT_REMEDY,
    has_place=lambda block: True,
)
