"""The arm of the rig `arm_joint` with its elbow free, moved by an input torque of the hand."""

from codegen.description.mechanism import find

JOINTS = ("waist", "lift", "roll", "elbow", "twist", "nod", "spin")
HAND = "force/hand/torque_nm"


def write_free_arm(folder):
    """Write `free_arm.toml` into a folder; return its path."""
    head, guide, tail = find("desk_arm").read_text().partition("[guide.elbow]\n")
    assert guide
    pushed = '[force.hand]\nangle = "elbow"\ntorque_nm = { input = 0.0 }'
    tail = tail.replace('coordinate = "elbow"', pushed)
    tail = tail.replace('"elbow/torque_nm" = "guide.elbow.reaction"\n', "")
    path = folder / "free_arm.toml"
    path.write_text(head.replace('name = "desk_arm"', 'name = "free_arm"') + tail)
    return path
