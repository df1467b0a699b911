import subprocess
import sys

import pytest

from io_bridge.host import namespace


def test_a_missing_tool_is_named_with_its_package(monkeypatch):
    namespace.why_not.cache_clear()
    monkeypatch.setattr(namespace, "_path", lambda: "/nowhere")
    try:
        assert namespace.why_not() == "the command 'unshare' is missing (package util-linux)"
    finally:
        namespace.why_not.cache_clear()


@pytest.mark.netns
def test_a_command_sees_the_pair_and_nothing_of_the_host():
    if namespace.why_not() is not None:
        pytest.skip(namespace.why_not())
    code = "import socket; print(sorted(name for _, name in socket.if_nameindex()))"
    done = subprocess.run(
        namespace.wrap([sys.executable, "-c", code], ("left", "right")),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout.strip() == "['left', 'lo', 'right']"


@pytest.mark.netns
def test_a_namespace_may_have_several_pairs():
    if namespace.why_not() is not None:
        pytest.skip(namespace.why_not())
    code = "import socket; print(sorted(name for _, name in socket.if_nameindex()))"
    command = namespace.wrap([sys.executable, "-c", code], namespace.PAIR, namespace.SECOND_PAIR)
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.stdout.strip() == "['lo', 'veth0', 'veth1', 'veth2', 'veth3']"
