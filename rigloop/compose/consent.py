"""Consent to the code of a rig's own blocks: none is compiled or loaded before somebody has said so for its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig_configs.load import LoadedRig
from rigloop.blocks.catalogue import kind_of

if TYPE_CHECKING:
    from rigloop.blocks.compiled.declared import Declared


def own_code(loaded: LoadedRig) -> list[Declared]:
    """Return declaration and source of each kind of block that does not ship."""
    kinds = {block.kind: kind_of(block) for block in loaded.rig.blocks.values()}
    compiled = [kind.declared for kind in kinds.values() if kind.declared is not None]
    if not compiled:
        return []
    from rigloop.blocks.compiled.trust import is_trusted

    return list({one.hash: one for one in compiled if not is_trusted(one)}.values())


def require_consent(loaded: LoadedRig, *, trusts: bool = False) -> None:
    """Refuse a rig with code that nobody has trusted here, or trust it.

    Parameters
    ----------
    trusts : bool
        The user has said so, for this rig as it is now.

    Raises
    ------
    NotTrustedError
        With every such block.
    TrustError
        The record of trust cannot be used.
    """
    missing = own_code(loaded)
    if not missing:
        return
    from rigloop.blocks.compiled.trust import NotTrustedError, trust

    if not trusts:
        raise NotTrustedError(missing)
    for declared in missing:
        trust(declared.hash)
