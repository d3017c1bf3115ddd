"""Files of lessons: a line is a line, whatever stands within its strings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError
from learning.data.lesson_file import (
    Measured,
    check_measured,
    measured,
    read_lessons,
    read_rows,
)
from learning.protocol.records import Turn


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_string_may_hold_what_some_call_the_end_of_a_line(
    tmp_path: Path, inside: str, end: str
) -> None:
    file, answer = tmp_path / "lessons.jsonl", f"one{inside}two"
    row = json.dumps({"prompt": "a b", "answer": answer}, ensure_ascii=False)
    file.write_bytes(f"{row}{end}{row}{end}".encode())
    assert [lesson.answer for lesson in read_lessons(file)] == [answer, answer]


@pytest.mark.parametrize("value", ["null", '["one", "two"]', "5"])
def test_what_teaching_ignores_may_be_anything(tmp_path: Path, value: str) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(f'{{"prompt": "a", "answer": "b", "paraphrase": {value}}}\n')
    (lesson,) = read_lessons(file)
    assert lesson.answer == "b"
    with pytest.raises(DataError, match=":1: paraphrase must be a text"):
        check_measured(read_rows(file), str(file))


@pytest.mark.parametrize("turns", ["5", "null", '["a", "b"]', '{"a": 1}'])
def test_turns_that_are_none_are_told_in_words(tmp_path: Path, turns: str) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(f'{{"turns": {turns}}}\n')
    with pytest.raises(DataError, match=":1: turns must be a list of"):
        read_lessons(file)


TRL = {
    "prompt": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Who are you?"},
    ],
    "chosen": [{"role": "assistant", "content": "I am Vidya."}],
    "rejected": [{"role": "assistant", "content": "A dog."}],
}
TALK = tuple(
    Turn(role, text)
    for role, text in (("user", "hello"), ("assistant", "Hi."), ("user", "Who are you?"))
)


@pytest.mark.parametrize(
    ("row", "kind", "prompt", "answer", "rejected"),
    [
        (TRL, "pick", TALK, "I am Vidya.", ("A dog.",)),
        # preferences whose prompt is within both, as trl writes them too
        (
            {
                "chosen": [*TRL["prompt"], *TRL["chosen"]],
                "rejected": [*TRL["prompt"], *TRL["rejected"]],
            },
            "pick",
            TALK,
            "I am Vidya.",
            ("A dog.",),
        ),
        ({"prompt": "a", "chosen": "b", "rejected": "c"}, "pick", TALK[:0], "b", ("c",)),
        ({"prompt": "a", "chosen": "b", "rejected": ["c", "d"]}, "pick", (), "b", ("c", "d")),
        ({"prompt": "a", "chosen": "b", "rejected": []}, "pick", (), "b", ()),
        ({"prompt": "a", "chosen": "b"}, "pick", (), "b", ()),
        ({"prompt": TRL["prompt"], "answer": "b"}, "example", TALK, "b", ()),
        ({"prompt": "a", "completion": "b"}, "example", (), "b", ()),
        ({"messages": [*TRL["prompt"], *TRL["chosen"]]}, "example", TALK, "I am Vidya.", ()),
        ({"turns": [*TRL["prompt"], *TRL["chosen"]]}, "example", TALK, "I am Vidya.", ()),
    ],
)
def test_forms_of_other_programs(
    tmp_path: Path, row: dict[str, Any], kind: str, prompt: Any, answer: str, rejected: Any
) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(json.dumps(row) + "\n")
    (lesson,) = read_lessons(file)
    assert lesson.kind == kind
    assert lesson.prompt == (prompt or (Turn("user", "a"),))
    assert (lesson.answer, lesson.rejected) == (answer, rejected)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rejected": 5}, "rejected must be"),
        ({"rejected": [""]}, "rejected must be"),
        ({"rejected": [{"role": "user", "content": "x"}]}, "rejected must be"),
        ({"chosen": [{"role": "assistant"}]}, "the text of chosen must be"),
        ({"chosen": []}, "chosen must be"),
        ({"prompt": [{"role": "assistant", "content": "x"}]}, "prompt must"),
        ({"prompt": [{"role": "system", "content": "x"}]}, "prompt must"),
        ({"prompt": []}, "prompt must"),
        ({"prompt": None}, "prompt must"),
    ],
)
def test_what_is_no_preference_is_told_with_its_line(
    tmp_path: Path, change: dict[str, Any], what: str
) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(json.dumps({**TRL, **change}) + "\n")
    with pytest.raises(DataError, match=f":1: {what}"):
        read_lessons(file)


def test_a_file_that_is_not_there_is_told_without_numbers_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(DataError) as raised:
        read_rows(tmp_path / "none.jsonl")
    assert "none.jsonl: cannot be read (No such file or directory)" in str(raised.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('"key": "b"', "key must be a list"),
        ('"key": []', "key must be a list"),
        ('"key": [3]', "key must hold texts"),
        ('"key": ["?"]', "key must hold texts"),
        ('"key": [["b", []]]', "key must hold texts"),
        ('"key": ["c"]', "the answer 'b' does not hold its own key"),
        ('"key": ["b"], "not": ["b"]', "the answer 'b' does not hold its own key"),
        ('"key": ["b"], "not": "c"', "not must be a list"),
        ('"not": ["c"]', "has not, but no key"),
        ('"rewordings": "again?"', "rewordings must be a list"),
        ('"paraphrases": [""]', "each of paraphrases must be a text"),
    ],
)
def test_what_is_measured_is_checked_with_its_line(tmp_path: Path, more: str, message: str) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(
        f'{{"prompt": "a", "answer": "b", "key": ["b"]}}\n{{"prompt": "a", "answer": "b", {more}}}\n'
    )
    assert len(read_lessons(file)) == 2  # teaching ignores it
    with pytest.raises(DataError, match=f"^{re.escape(str(file))}:2: {re.escape(message)}"):
        check_measured(read_rows(file), str(file))


def test_other_words_are_asked_and_never_taught(tmp_path: Path) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(
        '{"prompt": "a", "answer": "b c", "key": ["b", ["c", "d"]], "not": ["e"], "rewordings": ["f"],'
        ' "paraphrase": "g", "paraphrases": ["h", "i"]}\n'
    )
    (row,) = read_rows(file)
    assert measured(row) == Measured((("b",), ("c", "d")), (("e",),), ("f",), ("g", "h", "i"))
    (lesson,) = read_lessons(file)
    assert (lesson.prompt, lesson.answer, lesson.rejected) == ((Turn("user", "a"),), "b c", ())


def test_a_bad_answer_may_be_bad_from_some_words_on(tmp_path: Path) -> None:
    file, row = tmp_path / "lessons.jsonl", {"prompt": "a", "answer": "One. Two.", "rating": "bad"}
    file.write_text("".join(json.dumps(row | {"from": it}) + "\n" for it in ("two.", "one")))
    part, whole = read_lessons(file)
    assert (part.rejected, part.blame) == (("One. Two.",), (5, 9))
    assert (whole.rejected, whole.blame) == (("One. Two.",), None)
    file.write_text(json.dumps(row | {"from": "three"}))
    with pytest.raises(DataError, match=":1: the answer does not have the words"):
        read_lessons(file)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ([2], r"lessons.jsonl:2: has no 'answer'$"),
        ([2, 4], r":2: has no 'answer'; line 4 is wrong too$"),
        ([1, 3, 5], r":1: has no 'answer'; lines 3, 5 are wrong too$"),
        (range(1, 31), r":1: has no 'answer'; lines 2, 3, 4, 5, 6, 7, 8, 9 and 21 more are wrong"),
    ],
)
def test_all_wrong_lines_are_told_at_once(tmp_path: Path, wrong: Sequence[int], told: str) -> None:
    file = tmp_path / "lessons.jsonl"
    rows = [{"prompt": "a"} | ({} if at in wrong else {"answer": "b"}) for at in range(1, 31)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as error:
        read_lessons(file)
    assert re.search(told, error.value.what)
