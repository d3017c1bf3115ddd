"""Lets through only what may speak to a server of one machine: by Host, Origin and key. Pure ASGI.

A page in a browser can send requests to loopback addresses, also under a name of its own that resolves to
one (DNS rebinding). So the host must be a loopback address, and no other page may be the origin.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from engine.storage.reading import shown
from vidya_tui.server.refusal import Refusal
from vidya_tui.server.replies import encoded

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = "/health"
"""The path that needs no key."""


def is_loopback(host: str) -> bool:
    """True for a loopback address, and for localhost."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check(path: str, headers: list[tuple[bytes, bytes]], key: str | None) -> None:
    """Raises Refusal for a request that may not come in. headers: names in lower case."""
    hosts = _values(headers, b"host")
    if len(hosts) != 1 or not is_loopback(_name(hosts[0])):
        what = f"the host {', '.join(map(shown, hosts)) or '(none)'} is not this machine's"
        raise Refusal(403, what, "use http://127.0.0.1 and the port", code="wrong_host")
    for origin in _values(headers, b"origin"):
        if origin.lower() != f"http://{hosts[0].lower()}":
            what = f"a page of {shown(origin)} may not use this server"
            raise Refusal(403, what, "send no Origin header", code="wrong_origin")
    if key and path != OPEN:
        given = [value for name, value in headers if name == b"authorization"]
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        right = hmac.compare_digest(token.strip(), key.encode("utf-8"))
        if scheme.lower() != b"bearer" or not right:
            what = "the key is wrong" if given else "the key is missing"
            raise Refusal(401, what, "send Authorization: Bearer KEY", code="invalid_api_key")


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for one, value in headers if one == name]


def _name(host: str) -> str:
    """The host without its port; empty if it cannot be read."""
    try:
        parts = urlsplit(f"//{host}")
        named = parts.hostname if parts.port is None or parts.port >= 0 else None
    except ValueError:
        return ""
    return (named or "") if parts.netloc == host and "@" not in host else ""


class Guard:
    """Answers refused requests itself, and passes on all others."""

    def __init__(self, application: Application, key: str | None) -> None:
        self._application, self._key = application, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                check(scope["path"], scope["headers"], self._key)
            except Refusal as refusal:
                await send_refusal(refusal, send)
                return
        await self._application(scope, receive, send)


async def send_refusal(refusal: Refusal, send: Send) -> None:
    """Sends a whole reply."""
    body = encoded(refusal.body()).encode("ascii")
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode("ascii")),
    ]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.status == 503:
        headers.append((b"retry-after", b"1"))
    start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
