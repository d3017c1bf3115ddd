"""Text from anywhere, made harmless."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from vidya_tui.text.sanitise import one_line, plain


def test_escape_sequences_become_visible() -> None:
    assert plain("\x1b[31mred\x1b[0m") == "\u241b[31mred\u241b[0m"
    assert plain("\x1b]0;title\x07") == "\u241b]0;title\u2407"
    assert plain("\x9b31m") == "\ufffd31m"
    assert plain("\x00\x08\x7f") == "\u2400\u2408\u2421"


def test_lines_and_tabs() -> None:
    assert plain("a\r\nb\rc\nd\u2028e\x85f") == "a\nb\nc\nd\ne\nf"
    assert plain("a\tb") == "a    b"


def test_what_reorders_or_hides_is_dropped() -> None:
    assert plain("a\u202eb\u2066c\u200fd\ufeffe\u200bf\U000e0041g") == "abcdefg"


def test_what_people_write_stays() -> None:
    text = "[b]not markup[/b] \u0928\u092e\u0938\u094d\u0924\u0947 \u4f60\u597d"
    text += " \U0001f469\u200d\U0001f33e caf\u0065\u0301"
    assert plain(text) == text


@given(st.text(st.characters()))
def test_nothing_a_terminal_obeys_is_left(text: str) -> None:
    shown = plain(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in shown if c != "\n")
    assert plain(shown) == shown
    shown.encode("utf-8")


def test_one_line() -> None:
    assert one_line(" a\n b\t c ") == "a b c"
    assert one_line("a" * 10, 5) == "aaaa\u2026"
    assert one_line("a" * 5, 5) == "aaaaa"
