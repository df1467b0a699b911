"""Compiled blocks stepped as the loop does, over arrays."""

import numpy as np
import pytest

from rigloop.blocks.compiled.kind import library
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table


@pytest.fixture(scope="session")
def shipped():
    """Blocks of the library by name."""
    return library()


@pytest.fixture
def run(shipped):
    """Step a block over its inputs; return its outputs by name, and its fault codes as `fault`."""

    def step_all(kind, n=None, *, period_us=1000, cycles=None, table=None, **given):
        kind = shipped[kind] if isinstance(kind, str) else kind
        declaration = kind.declared.declaration
        inputs = {k: np.array(v, float) for k, v in given.items() if k in declaration.inputs}
        keys = {k: v for k, v in given.items() if k in declaration.parameters}
        assert not given.keys() - inputs.keys() - keys.keys()
        table = keys | (table or {})
        n = n or len(next(iter(inputs.values())))
        block = kind.make(
            "b", table, {port: f"in/{port}" for port in inputs}, period_s=1e-6 * period_us
        )
        paths = tuple(f"in/{port}" for port in inputs)
        offline = Offline(plan_table([Task("t", [block], 1000 * period_us, inputs=paths)]))
        cycles = np.arange(n) if cycles is None else np.array(cycles)
        forced = {f"in/{port}": values for port, values in inputs.items()}
        images = offline.run("t", cycles * 1000 * period_us, forced=forced)["t"]
        columns = offline.paths("t")
        out = {port: images[:, columns.index(f"b/{port}")] for port in declaration.outputs}
        return out | {"fault": images[:, columns.index("loop/t/fault")]}

    return step_all


@pytest.fixture
def write_block(tmp_path):
    """Write a block of a user: declaration and source; return the path of the declaration."""

    def write(text, source, name="mine", suffix=".c"):
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        path.with_suffix(suffix).write_text(source)
        return path

    return write
