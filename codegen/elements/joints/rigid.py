"""Two bodies are fixed to each other: six rows."""

from __future__ import annotations

from codegen.system import joints
from codegen.system.system import System


class Entry(joints.Entry):
    pass


def add(entry: Entry, name: str, system: System) -> None:
    joint = joints.Joint(entry, system)
    joint.meet()
    joint.lock()
    joint.show_reaction()
