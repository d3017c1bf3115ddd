"""personality.book: errors with their lines, tolerated deviations, and written lines."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from personality import book as book_module
from personality.book import (
    BookEntry,
    BookError,
    append_entry,
    format_line,
    parse_line,
    read_book,
    shipped_book_path,
)

GOOD = "<|user|> hi <|assistant|> Hello!"
HI = (("user", "hi"), ("assistant", "Hello!"))


def write(folder: Path, data: str | bytes) -> Path:
    path = folder / "book.txt"
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return path


# What a line means


def test_one_turn() -> None:
    assert parse_line(GOOD) == HI


def test_two_turns_ask_the_last_question() -> None:
    turns = parse_line("<|user|> a <|assistant|> b <|user|> c? <|assistant|> d.")
    assert turns == (("user", "a"), ("assistant", "b"), ("user", "c?"), ("assistant", "d."))
    entry = BookEntry(turns, 7)
    assert (entry.question, entry.answer, entry.line) == ("c?", "d.", 7)


@pytest.mark.parametrize(
    "line",
    [
        "<|user|>hi<|assistant|>Hello!",
        "  <|user|>   hi   <|assistant|>\tHello!  ",
        GOOD + "\n",
        GOOD + "\r\n",
        "\ufeff" + GOOD,
        GOOD + " <|end|>",
        GOOD + "<|end|>\r\n",
    ],
)
def test_forgiven(line: str) -> None:
    assert parse_line(line) == HI


def test_a_very_long_line_is_no_trap() -> None:
    with pytest.raises(ValueError):
        parse_line(GOOD + "<|end|> " * 100_000 + "x")
    assert len(parse_line(GOOD * 20_000)) == 40_000


def test_white_space_inside_a_text_becomes_one_space() -> None:
    assert parse_line("<|user|> how\t are  you <|assistant|> well")[0] == ("user", "how are you")


def test_an_older_book_ends_every_answer() -> None:
    line = "<|user|> a <|assistant|> b <|end|> <|user|> c <|assistant|> d <|end|>"
    assert parse_line(line) == parse_line(line.replace("<|end|>", ""))


def test_what_only_looks_like_a_marker_is_text() -> None:
    turns = (("user", "what is f <| x |> g <|user| |> ?"), ("assistant", "Elm. # no comment"))
    assert parse_line(format_line(turns)) == turns


MISTAKES = [
    ("hello", "no <|user|> at the start"),
    ("hello <|assistant|> hi", "no <|user|> at the start"),
    ("<|assistant|> hi <|user|> hello", "no <|user|> at the start"),
    ("<| user |> hi <|assistant|> hello", "no <|user|> at the start"),
    ("<|user|> hi <|assistant|>", "no answer after <|assistant|>"),
    ("<|user|> hi <|assistant|> <|end|>", "no answer after <|assistant|>"),
    ("<|user|> hi <|assistant|> <|user|> a <|assistant|> b", "no answer after <|assistant|>"),
    ("<|user|> <|assistant|> hello", "empty question after <|user|>"),
    ("<|user|>", "empty question after <|user|>"),
    ("<|user|> hi", "no <|assistant|> after the last question"),
    ("<|user|> hi <|end|>", "no <|assistant|> after the last question"),
    ("<|user|> a <|assistant|> b <|user|> c", "no <|assistant|> after the last question"),
    ("<|user|> a <|user|> b <|assistant|> c", "two <|user|> turns in a row"),
    ("<|user|> a <|assistant|> b <|assistant|> c", "two <|assistant|> turns in a row"),
    ("so: <|user|> hi <|assistant|> hello", "text before the first marker"),
    ("<|system|> be kind <|user|> hi <|assistant|> hello", "unknown marker <|system|>"),
    ("<|User|> hi <|assistant|> hello", "unknown marker <|User|>"),
    ("<|user|> hi <|assistant|> hello <|end|> more", "unknown marker <|end|>"),
    ("<|user|> h\0i <|assistant|> hello", "control character U+0000"),
    ("<|user|> hi <|assistant|> \x1b[31mhello", "control character U+001B"),
    ("<|user|> hi \r <|assistant|> hello", "control character U+000D"),
    ("<|user|> hi \x85 <|assistant|> hello", "control character U+0085"),
    ("<|user|> hi <|assistant|> a\nb", "control character U+000A"),
    ("<|user|> hi <|assistant|> \ud800", "control character U+D800"),
]


@pytest.mark.parametrize(("line", "what"), MISTAKES)
def test_a_mistake_says_what_and_what_next(line: str, what: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse_line(line)
    said, _, next_step = str(raised.value).partition("; ")
    assert what in said
    assert next_step


# Files


@pytest.mark.parametrize(
    ("line", "what"), [m for m in MISTAKES if not any(c in m[0] for c in "\n\ud800")]
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, line: str, what: str) -> None:
    path = write(tmp_path, f"# a heading\n\n{GOOD}\n{line}\n{GOOD}\n")
    with pytest.raises(BookError) as raised:
        read_book(path)
    ((number, said, next_step),) = raised.value.problems
    assert number == 4
    assert what in said
    assert raised.value.path == path
    assert str(raised.value) == f"{path}:4: {said}; {next_step}"
    assert [entry.line for entry in read_book(path, skip_bad=True)] == [3, 5]


def test_comments_blank_lines_and_line_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, f"# one\n\n   \n  # <|user|> two\n{GOOD}\n\t\n{GOOD}")
    assert read_book(path) == [BookEntry(HI, 5), BookEntry(HI, 7)]


@pytest.mark.parametrize("first", [GOOD, "# heading"])
def test_a_windows_file(tmp_path: Path, first: str) -> None:
    path = write(tmp_path, f"\ufeff{first}\r\n\r\n{GOOD}\r\n")
    assert read_book(path)[-1] == BookEntry(HI, 3)


def test_rare_line_separators_do_not_shift_the_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, f"<|user|> a\u2028b <|assistant|> c\u2029d\n{GOOD}\n")
    assert read_book(path) == [
        BookEntry((("user", "a b"), ("assistant", "c d")), 1),
        BookEntry(HI, 2),
    ]


def test_other_alphabets_stay(tmp_path: Path) -> None:
    turns = (("user", "विद्या क्या है?"), ("assistant", "ज्ञान. 知識 é"))
    path = write(tmp_path, format_line(turns))
    assert read_book(path)[0].turns == turns


def test_ten_problems_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "bad\n" * 13)
    with pytest.raises(BookError) as raised:
        read_book(path)
    lines = str(raised.value).split("\n")
    assert len(raised.value.problems) == 13
    assert lines[0].startswith(f"{path}:1: no <|user|>")
    assert lines[9].startswith(f"{path}:10: no <|user|>")
    assert lines[10:] == ["and 3 more"]


def test_exactly_ten_problems_need_no_count(tmp_path: Path) -> None:
    with pytest.raises(BookError) as raised:
        read_book(write(tmp_path, "bad\n" * 10))
    assert len(str(raised.value).split("\n")) == 10
    assert "more" not in str(raised.value)


def test_nothing_left_after_skipping_still_raises(tmp_path: Path) -> None:
    with pytest.raises(BookError) as raised:
        read_book(write(tmp_path, "# only\nbad\n"), skip_bad=True)
    assert [problem[0] for problem in raised.value.problems] == [2]


def whole_file_problem(path: Path, skip_bad: bool = False) -> str:
    with pytest.raises(BookError) as raised:
        read_book(path, skip_bad=skip_bad)
    ((number, what, next_step),) = raised.value.problems
    assert number == 0
    assert str(raised.value) == f"{path}: {what}; {next_step}"
    return what


@pytest.mark.parametrize("data", ["", "\n\n", "# only comments\n", "\ufeff"])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_book_without_conversations(tmp_path: Path, data: str, skip_bad: bool) -> None:
    assert whole_file_problem(write(tmp_path, data), skip_bad) == "holds no conversation"


def test_a_missing_file(tmp_path: Path) -> None:
    assert whole_file_problem(tmp_path / "none.txt") == "there is no such file"


def test_a_folder(tmp_path: Path) -> None:
    assert "cannot be read" in whole_file_problem(tmp_path)


def test_a_path_that_cannot_be() -> None:
    with pytest.raises(BookError, match="cannot be read"):
        read_book("a\0b")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\0\0\0", (GOOD + "\n").encode("utf-16")])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_binary_file(tmp_path: Path, data: bytes, skip_bad: bool) -> None:
    assert "UTF-8" in whole_file_problem(write(tmp_path, data), skip_bad)


def test_one_line_in_another_encoding_is_one_bad_line(tmp_path: Path) -> None:
    path = write(tmp_path, f"{GOOD}\n<|user|> café <|assistant|> x\n".encode("latin-1"))
    with pytest.raises(BookError) as raised:
        read_book(path)
    assert [(line, what) for line, what, _ in raised.value.problems] == [(2, "not UTF-8 text")]
    assert len(read_book(path, skip_bad=True)) == 1


def test_the_error_crosses_a_process() -> None:
    error = BookError("b.txt", [(3, "wrong", "mend it")])
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.path, copy.problems) == (
        "b.txt:3: wrong; mend it",
        Path("b.txt"),
        [(3, "wrong", "mend it")],
    )


# Writing


def test_format_line() -> None:
    assert format_line(HI) == GOOD
    assert format_line([("user", " a\n\n b\t"), ("assistant", "c\r\nd")]) == (
        "<|user|> a b <|assistant|> c d"
    )


@pytest.mark.parametrize(
    ("turns", "what"),
    [
        ([("user", "say <|user|> now"), ("assistant", "b")], "the marker <|user|>"),
        ([("user", "a"), ("assistant", "b<|assistant|>c")], "the marker <|assistant|>"),
        ([("user", "a"), ("assistant", "b <|end|>")], "the marker <|end|>"),
        ([("user", "a"), ("assistant", "\x1b[0m")], "U+001B"),
        ([("user", "\ud800"), ("assistant", "b")], "U+D800"),
        ([("user", " \n"), ("assistant", "b")], "empty question"),
        ([("user", "a"), ("assistant", "")], "no answer"),
        ([("user", "a")], "no <|assistant|>"),
        ([("assistant", "a"), ("user", "b")], "no <|user|>"),
        ([("user", "a"), ("user", "b"), ("assistant", "c")], "two <|user|>"),
        ([("system", "a"), ("user", "b"), ("assistant", "c")], "unknown marker <|system|>"),
        ([("user", "a"), ("assistant", "b"), ("my cat", "c")], "role"),
        ([("user", "a"), ("assistant", "b"), ("end", "")], "role"),
        ([], "no <|user|>"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, turns: list[tuple[str, str]], what: str) -> None:
    with pytest.raises(ValueError) as raised:
        format_line(turns)
    assert what in str(raised.value)
    path = tmp_path / "book.txt"
    with pytest.raises(ValueError):
        append_entry(path, turns)
    assert not path.exists()


WORDS = st.text(max_size=30) | st.text(alphabet="<|>usrend \n\ufeff", max_size=30)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=3))
@example([("\ufeff", "a")])
@example([("a <|", "user|> b")])
@example([("a", "b <|en\nd|>")])
def test_what_is_written_is_read_back(pairs: list[tuple[str, str]]) -> None:
    turns = [turn for q, a in pairs for turn in (("user", q), ("assistant", a))]
    try:
        line = format_line(turns)
    except ValueError:
        return
    assert "\n" not in line
    assert parse_line(line) == tuple((role, " ".join(text.split())) for role, text in turns)
    assert format_line(parse_line(line)) == line


@given(st.lists(st.text(alphabet="abc xyzé知,.?!'-", min_size=1).filter(str.strip), min_size=2))
def test_ordinary_texts_can_always_be_written(texts: list[str]) -> None:
    even = texts[: len(texts) // 2 * 2]
    turns = [("assistant" if i % 2 else "user", text) for i, text in enumerate(even)]
    assert len(parse_line(format_line(turns))) == len(even)


PIECES = st.sampled_from(["<|user|>", "<|assistant|>", "<|end|>", "<|x|>", "<|", "|>", " ", "a"])


@given(st.text() | st.lists(PIECES).map("".join))
def test_any_line_is_a_conversation_or_a_clear_error(line: str) -> None:
    try:
        turns = parse_line(line)
    except ValueError as error:
        assert "; " in str(error)
    else:
        roles = [role for role, _ in turns]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        assert roles
        assert all(text for _, text in turns)


def test_the_parser_is_torch_free_and_stands_alone() -> None:
    script = "import sys, personality.book; print(*sys.modules)"
    root = Path(book_module.__file__).parents[1]
    modules: Any = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"torch", "engine", "learning", "vidya_tui"} & set(modules)


def test_the_shipped_book_is_found() -> None:
    assert shipped_book_path().name == "vidya.txt"
    assert shipped_book_path().is_file()
