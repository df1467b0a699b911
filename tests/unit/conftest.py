"""A host whose files a test writes itself, and blocks stepped as the loop does."""

import ctypes

import pytest

from rt_core.block import BLOCK_ABI, BLOCK_CAPSULE
from rt_core.host.facts import Host


@pytest.fixture
def work_of():
    """Read the witness of a block from its capsule: what it returns is called for the count."""

    def take(block):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        view = (ctypes.c_int64 * 5).from_address(pointer(block.capsule(), BLOCK_CAPSULE.encode()))
        assert view[3]
        return lambda: ctypes.c_int64.from_address(view[3]).value

    return take


@pytest.fixture
def step_of():
    """Take the step of a block from its capsule: t_ns → what it returns."""

    def take(block):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        view = (ctypes.c_int64 * 3).from_address(pointer(block.capsule(), BLOCK_CAPSULE.encode()))
        assert view[0] == BLOCK_ABI
        step = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)(view[1])
        return lambda t_ns=0: step(view[2], t_ns)

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
