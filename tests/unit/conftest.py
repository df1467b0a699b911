"""A host whose files a test writes itself."""

import pytest

from rt_core.host import Host


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
