"""The gate of the page: one host, one origin, one token, one method."""

import asyncio
import stat

import pytest

from io_bridge.doorway.local_socket import DoorError
from rigloop.monitor.web.gate import Gate, kept_token, opening_page

PORT, TOKEN = 9874, "t" * 43
HERE = b"127.0.0.1:9874"
OWN = b"http://127.0.0.1:9874"


async def inside(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


def asked(path="/", query=f"token={TOKEN}", headers=((b"host", HERE),), method="GET", kind="http"):
    """Return the messages that the gate sends for a request."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "websocket.connect"}

    scope = {"type": kind, "method": method, "path": path, "headers": list(headers)}
    scope["query_string"] = query.encode() if isinstance(query, str) else query
    asyncio.run(Gate(inside, PORT, TOKEN)(scope, receive, send))
    return sent


def is_in(**request):
    return asked(**request)[0].get("status") == 200


def test_the_page_comes_with_a_policy_without_inline_scripts():
    start = asked()[0]
    headers = dict(start["headers"])
    policy = headers[b"content-security-policy"].decode()
    assert start["status"] == 200
    assert "default-src 'none'; script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"referrer-policy"] == b"no-referrer"


@pytest.mark.parametrize(
    "query",
    ["", "token=", "token=t", f"token={TOKEN}x", f"token={TOKEN}&token={TOKEN}", "tok=" + TOKEN,
     b"token=\xff\xfe", "token=%ff", "a=1&" * 200],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/ws"])
def test_without_the_token_nobody_comes_in(path, query):
    assert not is_in(path=path, query=query)


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"host", b"evil.example")],
        [(b"host", b"127.0.0.1")],
        [(b"host", b"127.0.0.1:80")],
        [(b"host", HERE), (b"host", HERE)],
        [(b"host", HERE), (b"origin", b"http://evil.example")],
        [(b"host", HERE), (b"origin", b"null")],
        [(b"host", HERE), (b"origin", OWN), (b"origin", OWN)],
        [(b"host", HERE), (b"origin", b"https://127.0.0.1:9874")],
    ],
)
@pytest.mark.parametrize("path", ["/", "/static/page.css"])
def test_another_host_or_origin_is_refused(path, headers):
    assert asked(path=path, headers=headers)[0]["status"] == 403


def test_only_reading_goes_over_http():
    assert is_in(method="HEAD")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "get"):
        assert not is_in(method=method)


def test_a_websocket_needs_an_origin():
    own = {"kind": "websocket", "path": "/ws"}
    assert is_in(**own, headers=[(b"host", HERE), (b"origin", OWN)])
    assert asked(**own, headers=[(b"host", HERE)])[0]["type"] == "websocket.close"
    assert asked(**own, query="", headers=[(b"host", HERE), (b"origin", OWN)])[0]["type"] == (
        "websocket.close"
    )


def test_the_token_is_random_kept_and_for_its_owner_only(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first = kept_token()
    path = tmp_path / "rigloop" / "page.token"
    assert len(first) == 43
    assert kept_token() == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)  # others may have read it
    second = kept_token()
    assert second != first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert kept_token() not in (first, second)
    opened = opening_page(f"http://127.0.0.1/?token={second}")
    assert stat.S_IMODE(opened.stat().st_mode) == 0o600
    path.parent.chmod(0o755)
    with pytest.raises(DoorError, match="chmod 700"):
        kept_token()
