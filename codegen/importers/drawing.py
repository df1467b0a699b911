"""The tree of a model in plain characters, for the head of its file."""

from __future__ import annotations

from codegen.importers.tree import GROUND, Link, Tree

DEEPEST = 100  # characters of indentation


def drawing(tree: Tree, title: str) -> str:
    """Title, the links under their parents with their joints, and the loop closures."""
    lines = [title, "", GROUND]
    _branches(tree, lines)
    closing = [f"{loop.name}: {loop.kind} of {' and '.join(loop.links)}" for loop in tree.loops]
    for c in tree.couplings:
        closing.append(
            f"{c.name}: {c.first} = {c.ratio:.6g} x {c.second}" if c.second else f"{c.first} stands"
        )
    for s in tree.struts:
        kind = "rod" if s.is_rigid else "spring"
        closing.append(f"{s.name}: {kind} between {s.ends[0][0]} and {s.ends[1][0]}")
    if closing:
        lines += ["", "beyond the tree:", *(f"  {line}" for line in closing)]
    return "\n".join(lines)


def _branches(tree: Tree, lines: list[str]) -> None:
    """Every link under its parent, however deep the tree is."""
    children: dict[str, list[Link]] = {}
    for link in tree.links:
        children.setdefault(link.parent, []).append(link)

    def below(parent: str, indent: str) -> list[tuple[Link, str, bool]]:
        found = children.get(parent, [])
        return [(link, indent, link is found[-1]) for link in reversed(found)]

    waiting = below(GROUND, "")
    while waiting:
        link, indent, is_last = waiting.pop()
        lines.append(f"{indent}|")
        lines.append(f"{indent}+-- {_joints(link)} --o {link.name}  ({link.mass:.4g} kg)")
        # a drawing as deep as it is wide helps nobody: from here on the links stand below each other
        step = ("    " if is_last else "|   ") if len(indent) < DEEPEST else ""
        waiting += below(link.name, indent + step)


def _joints(link: Link) -> str:
    told = []
    for joint in link.joints:
        axis = ""
        if joint.is_scalar:
            word = "about" if joint.kind == "hinge" else "along"
            axis = f" {word} " + _axis(joint.axis)
        told.append(f"{joint.kind} {joint.name}{axis}")
    return ", ".join(told)


def _axis(axis: tuple[float, float, float]) -> str:
    for letter, value in zip("xyz", axis, strict=True):
        if abs(value) == 1.0:
            return ("-" if value < 0 else "") + letter
    return "(" + " ".join(f"{v:.3g}" for v in axis) + ")"
