"""A rig that somebody has signed off, and the limit that a run of it has."""

import shutil
from types import SimpleNamespace

from io_bridge.slaves.sii import Identity
from rigloop.commission.commission import sign
from rigloop.commission.progress import StepResult
from rigloop.commission.walk import Walked, find_steps
from rigloop.compose.parts import backends_of
from rigloop.sign_off.limit import limited_by_drives, limited_by_files
from rigloop.sign_off.signed_file import rig_hash, signed_path

DRIVE = Identity(1, 2, 3, 4)


class SignedStand:
    """The facts of a stand that a signature needs."""

    def __init__(self, guard="guard", identity=DRIVE):
        self.axis = SimpleNamespace(guard=guard, place="bus/wheel", backend="eth9")
        self._identity = identity

    def identity(self):
        return self._identity


def signed(loaded, **settings):
    """Sign a rig off, as a walk that is good does; return the file."""
    stand = SignedStand(**settings)
    results = tuple(
        StepResult(step.name, True, 0.1, "°", -3.0, 3.0, step.good) for step in find_steps()
    )
    began = {"sha256": rig_hash(loaded), "identity": stand.identity()}
    return sign(loaded, stand, Walked(results, ()), "Ada  Lovelace", **began)


def signed_copy(loaded, other):
    """Put a copy of the signed file of a rig beside another one."""
    shutil.copy(signed_path(loaded), signed_path(other))


def limit(loaded, found=DRIVE, backend=None):
    """Return the limit of a run with one drive."""
    backends = backends_of(loaded.rig, backend)
    known, numbers = limited_by_files(loaded, backends)
    return limited_by_drives(
        loaded.rig, backends, known, numbers, {"bus/wheel": found}, loaded.argument
    )
