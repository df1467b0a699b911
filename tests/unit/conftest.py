"""A host whose files a test writes itself, and blocks stepped as the loop does."""

import pytest
from block_view import view_of

from rt_core.block import BLOCK_ABI
from rt_core.host.facts import Host


@pytest.fixture
def work_of():
    """Read the witness of a block from its capsule: what it returns is called for the count."""

    def take(block):
        view = view_of(block)
        assert view.work
        return view.count

    return take


@pytest.fixture
def step_of():
    """Take the step of a block from its capsule: t_ns → what it returns."""

    def take(block):
        view = view_of(block)
        assert view.abi == BLOCK_ABI
        return view.call

    return take


@pytest.fixture
def make_host(tmp_path):
    """Write files under a root of their own: path → text, None for a folder; return that host."""

    def make(files=(), sample_s=0.05):
        root = tmp_path / "host"
        root.mkdir(exist_ok=True)
        host = Host(root, sample_s)
        for place, text in dict(files).items():
            path = host.path(place)
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.mkdir()
            else:
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return host

    return make
