"""Consent to the code of a rig's own blocks: none is compiled or loaded before somebody has said so for its bytes."""

from __future__ import annotations

from rig_configs.load import LoadedRig
from rigloop.blocks.catalogue import kind_of
from rigloop.blocks.compiled.declared import Declared
from rigloop.blocks.compiled.trust import NotTrustedError, is_trusted, trust


def own_code(loaded: LoadedRig) -> list[Declared]:
    """Return declaration and source of each kind of block that does not ship."""
    found = {}
    for block in loaded.rig.blocks.values():
        declared = kind_of(block).declared
        if declared is not None and not is_trusted(declared):
            found[declared.hash] = declared
    return list(found.values())


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
    if missing and not trusts:
        raise NotTrustedError(missing)
    for declared in missing:
        trust(declared.hash)
