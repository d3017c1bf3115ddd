"""Who may speak to the server."""

from __future__ import annotations

import pytest

from vidya_tui.server.guard import check, is_loopback
from vidya_tui.server.refusal import Refusal

HOST = (b"host", b"127.0.0.1:8765")


def status(*headers: tuple[bytes, bytes], key: str | None = None, path: str = "/v1/models") -> int:
    try:
        check(path, list(headers), key)
    except Refusal as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8765", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8765", "127.1.2.3"]
)
def test_hosts_of_this_machine(host: str) -> None:
    assert status((b"host", host.encode())) == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.1@evil.example",
        "evil.example/127.0.0.1",
        "127.0.0.1:port",
        "[::1",
        "192.168.1.5",
        "0.0.0.0",
        "2130706433",
        "\xe9",
    ],
)
def test_hosts_of_others(host: str) -> None:
    assert status((b"host", host.encode("latin-1"))) == 403


def test_there_is_exactly_one_host() -> None:
    assert status() == 403
    assert status(HOST, (b"host", b"evil.example")) == 403


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:8765", 200),
        ("http://evil.example", 403),
        ("https://127.0.0.1:8765", 403),
        ("http://127.0.0.1:3000", 403),
        ("http://localhost:8765", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_no_other_page_may_be_the_origin(origin: str, expected: int) -> None:
    assert status(HOST, (b"origin", origin.encode())) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"Bearer s\xc3\xa9cret", 200),
        (b"bearer  s\xc3\xa9cret", 200),
        (b"Bearer secret", 401),
        (b"Bearer", 401),
        (b"s\xc3\xa9cret", 401),
        (b"Basic s\xc3\xa9cret", 401),
        (b"", 401),
    ],
)
def test_the_key_is_demanded(value: bytes, expected: int) -> None:
    assert status(HOST, (b"authorization", value), key="s\xe9cret") == expected


def test_without_the_key_only_the_health_is_told() -> None:
    assert status(HOST, key="x") == 401
    assert status(HOST, key="x", path="/health") == 200
    twice = [(b"authorization", b"Bearer x"), (b"authorization", b"Bearer x")]
    assert status(HOST, *twice, key="x") == 401
    assert status((b"host", b"evil.example"), key="x", path="/health") == 403


def test_addresses_to_listen_on() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost")] == [True] * 3
    others = ("0.0.0.0", "::", "192.168.0.1", "example.org", "")
    assert [is_loopback(host) for host in others] == [False] * 5
