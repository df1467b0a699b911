"""A tree as data of NumPy twins, which find every place by products of 4 x 4 matrices."""

from __future__ import annotations

import numpy as np

from codegen.description.mechanism import Mechanism
from codegen.options.options import KernelOptions
from codegen.system.system import System
from codegen.topology.motion import Motion

ENERGIES = ("outputs/energy", "outputs/energy.kinetic")


def uncompared(mechanism: Mechanism, options: KernelOptions) -> list[str]:
    """Outputs that are not what the file's equations say: energies of bodies that are linearised."""
    if options.bending == "full" or not mechanism.system.flexible:
        return []
    return [output.port for output in mechanism.outputs if output.path in ENERGIES]


def twin_data(
    motion: Motion, made: System, source: System, options: KernelOptions
) -> dict[str, str]:
    """Values of the templates of twins beside this file; `made` has the coordinates of the joints."""
    number = {c.q: c.index for c in source.coordinates}
    tree = motion.tree
    links = [
        (
            link.parent,
            link.kind,
            list(link.amplitudes if link.kind == "node" else link.coordinates),
            [tree.coordinates[i].initial for i in link.coordinates],
            link.single.lead,
        )
        for link in tree.links
    ]
    frames = [
        (motion.inverse[link.parent] if link.parent >= 0 else np.eye(4)) @ frame
        for link, frame in zip(tree.links, motion.frames, strict=True)
    ]
    places = [
        (number[var], link, place.tolist(), axis)
        for var, (link, place, axis) in motion.on_links.items()
    ]
    sums = [
        (number[var], weights, float(offset)) for var, (weights, offset) in tree.scalars.items()
    ]
    first = len(tree.coordinates)
    loose = [(number[c.q], first + k) for k, c in enumerate(motion.loose)]
    nodes = {
        n: [None if v is None else v.tolist() for v in (node.at, node.moves, node.turns, node.axis)]
        for n, node in motion.nodes.items()
    }
    bent = [
        (
            n,
            list(tree.links[n].amplitudes),
            frame.gram.tolist(),
            None if frame.load is None else frame.load.tolist(),
        )
        for n, frame in motion.bent.items()
    ]
    defined = [(number[var], row) for var, (_, row) in source.defined.items()]
    return {
        "nodes": repr(nodes),
        "bent": repr(bent),
        "ruthless": repr(options.bending == "ruthless"),
        "gravity": repr(list(source.gravity)),
        "defined": repr(defined),
        "links": repr(links),
        "frames": repr([frame.tolist() for frame in frames]),
        "places": repr(places),
        "sums": repr(sums),
        "loose": repr(loose if len(made.coordinates) > first else []),
        "z_0": repr([c.initial for c in made.coordinates]),
        "zd_0": repr([c.initial_rate for c in made.coordinates]),
        "guided": repr([guide.coordinate.index for guide in made.guides]),
        "n_natural": str(len(source.coordinates)),
    }
