"""Shapes of a robot file, which a mechanism has no use for."""

from __future__ import annotations

from typing import Any

from codegen.importers.tree import Tree


def drop_shapes(mj: Any, spec: Any, tree: Tree) -> None:
    """Meshes and textures are files that a mechanism has no use for: links that say their inertia
    go without.
    """
    for body in spec.bodies:
        for geom in body.geoms:
            geom.material = ""
            if geom.type == mj.mjtGeom.mjGEOM_MESH and body.explicitinertial:
                tree.left_out("geom", geom.name or geom.meshname, f"mesh on {body.name}")
                spec.delete(geom)
            elif geom.type == mj.mjtGeom.mjGEOM_HFIELD:
                tree.left_out("geom", geom.name or "-", f"height field on {body.name}")
                spec.delete(geom)
    used = {geom.meshname for body in spec.bodies for geom in body.geoms}
    for kind, keep in (
        ("meshes", used),
        ("hfields", set()),
        ("materials", set()),
        ("textures", set()),
    ):
        for element in list(getattr(spec, kind)):
            if element.name not in keep:
                spec.delete(element)
