"""The loops of the transfer matrix method in Python, from the assignments that their C is printed from."""

import re

from codegen.expressions.dag import evaluate
from codegen.transfer.places import TransferPlaces
from codegen.transfer.sweeps import TransferSweeps, written
from codegen.tree.groups import grouped, loop_links
from codegen.tree.mechanism import in_joint_coordinates

CELL = re.compile(r"(\w+)\[(\d+)\]")


def swept(mechanism, z, zd):
    """Accelerations of all joint coordinates; forces act within joints only."""
    tree = in_joint_coordinates(mechanism, -1, formulation="riccati", places=TransferPlaces)
    graph = mechanism.system.graph
    parameters = {p.var for p in mechanism.system.parameters}
    links = grouped(loop_links(tree.chain, tree.loads, parameters), graph)
    texts = written(graph, links, tree.loads.gravity, frozenset())
    sweeps = TransferSweeps(links, texts)
    known = {p.var.name: p.default for p in mechanism.system.parameters}
    numbers = [evaluate(e, known) for e in links.numbers]
    records = [[0.0] * sweeps.size for _ in links.links]
    hands = [[0.0] * sweeps.hand for _ in links.links]
    found = {}

    def run(n, assigns):
        link, text = links.links[n], texts[links.group[n]]
        first = link.coordinates[0]
        qdd = [0.0] * len(link.coordinates)
        arrays = {
            "number": numbers[links.row[n] :],
            "q": z[first:],
            "qd": zd[first:],
            "own": records[n],
            "up": records[max(0, link.parent)],
            "given": hands[n],
            "handed": [0.0] * sweeps.hand,
            "qdd": qdd,
        }

        def cell(where):
            array, k = CELL.fullmatch(where).groups()
            return arrays.get(array, ()), int(k)

        at = {}
        for var, where in text.bind.items():
            array, k = cell(where) if CELL.fullmatch(where) else ((), 0)
            if k < len(array):
                at[var.name] = float(array[k])
        for assign in assigns(text):
            array, k = cell(assign.target)
            value = evaluate(assign.expr, at)
            array[k] = value
            at |= {var.name: value for var, where in text.bind.items() if where == assign.target}
        found.update(zip(link.coordinates, qdd, strict=True))
        return arrays["handed"]

    outwards = range(len(links.links))
    for n in outwards:
        run(n, lambda text: text.moves())
    for n in reversed(outwards):
        handed = run(n, lambda text: text.inwards())
        parent = links.links[n].parent
        if parent >= 0:
            hands[parent] = [a + b for a, b in zip(hands[parent], handed, strict=True)]
    for n in outwards:
        run(n, lambda text: text.follow())
    return [found[i] for i in range(len(z))]
