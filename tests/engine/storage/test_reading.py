"""engine.storage.reading: untrusted files must be regular, of limited size and not deeply nested."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.storage.reading import JSON_DEPTH, parse_json, read_json, read_regular, shown


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": [1, {"b": null}]}')
    assert read_json(tmp_path / "a.json") == {"a": [1, {"b": None}]}
    (tmp_path / "link").symlink_to(tmp_path / "a.json")
    assert read_regular(tmp_path / "link", 100).startswith(b'{"a"')


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(ValueError, match="no regular file"):
            read_regular(tmp_path / name, 100)
    with pytest.raises((ValueError, OSError)):
        read_regular(tmp_path, 100)


def test_a_link_is_refused_where_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "dead").symlink_to(tmp_path / "gone")
    for name in ("link", "dead"):
        with pytest.raises(ValueError, match="is a link"):
            read_regular(tmp_path / name, 100, links=False)


def test_a_file_that_is_too_long_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "long").open("wb") as file:
        file.truncate(1 << 40)  # takes no room
    with pytest.raises(ValueError, match="1,099,511,627,776 bytes"):
        read_regular(tmp_path / "long", 1000)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "[" * 40 + "]" * 40, '{"a":' * 40 + "1" + "}" * 40]
)
def test_json_that_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="nested"):
        parse_json(text.encode())


def test_json_up_to_the_depth_is_read() -> None:
    text = "[" * JSON_DEPTH + "]" * JSON_DEPTH
    assert parse_json(text.encode())
    with pytest.raises(ValueError, match="utf-8"):
        parse_json(b"\xff")


def test_a_value_is_shown_escaped_and_cut() -> None:
    assert shown("\x1b[31m\x9b\u202e") == r"'\x1b[31m\x9b\u202e'"
    assert len(shown("x" * 10_000)) < 80
