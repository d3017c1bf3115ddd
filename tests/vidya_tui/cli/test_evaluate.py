"""`vidya evaluate`, with a tiny model."""

from __future__ import annotations

import math
import re

import pytest

from tests.vidya_tui.shell import Shell


@pytest.mark.slow
def test_evaluate_every_part(shell: Shell) -> None:
    (result,) = shell.rows("evaluate")
    assert set(result["book"]) == {"pairs", "recall", "nll"} and result["book"]["pairs"] == 2
    lessons = shell.file(
        "lessons.jsonl",
        '{"prompt": "a", "answer": "b", "paraphrase": "aa"}\n'
        '{"prompt": "a", "answer": "b", "rating": "bad"}\n'
        '{"turns": [{"role": "user", "text": "c"}, {"role": "assistant", "text": "d"}]}\n',
    )
    long = "The river runs to the sea. " * 40  # far longer than the context
    text = shell.file(
        "text.jsonl",
        f'{{"text": "{long}"}}\n'
        '{"turns": [{"role": "user", "text": "c"}, {"role": "assistant", "text": "d"}]}\n',
    )
    (result,) = shell.rows("evaluate", "--lessons", str(lessons), "--text", str(text))
    assert set(result) == {"lessons", "text"}
    assert set(result["lessons"]) == {"recall", "paraphrase_recall", "nll"}
    # a random model spreads over its 384 ids: the log of 384 nats a token
    assert math.isclose(result["text"]["nll"], math.log(384), rel_tol=0.05)
    assert 1 < result["text"]["bits_per_byte"] < 9
    plain = shell.file("plain.jsonl", '{"prompt": "a", "answer": "b"}\n')
    words = shell.run("evaluate", "--lessons", str(plain)).stdout
    assert (
        words.startswith("lessons: recall ") and "None" not in words and "paraphrase" not in words
    )
    bad = shell.file("bad.jsonl", '{"prompt": "a", "answer": "b", "rating": "bad"}\n')
    assert "nothing to measure" in shell.run("evaluate", "--lessons", str(bad)).stdout
    words = shell.run("evaluate", "--book", str(shell.home.path.parent / "shipped.txt")).stdout
    assert words.startswith("book: pairs 2, recall ")


@pytest.mark.slow
def test_evaluate_by_key(shell: Shell) -> None:
    row = '{"prompt": "a", "answer": "b", "key": ["b"], "rewordings": ["aa", "ab"], "paraphrase": "c"}\n'
    file = shell.file("keyed.jsonl", row)
    (result,) = shell.rows("evaluate", "--lessons", str(file))
    found = result["lessons"]["by_key"]
    assert {kind: part["asked"] for kind, part in found.items()} == {
        "recall": 1,
        "rewordings": 2,
        "paraphrases": 1,
    }
    words = shell.run("evaluate", "--lessons", str(file)).stdout.splitlines()
    assert [line.split(":")[0] for line in words] == [
        "lessons",
        "lessons, recall by key",
        "lessons, rewordings by key",
        "lessons, paraphrases by key",
    ]
    assert re.fullmatch(r"lessons, rewordings by key: asked 2, exact [01.]+, key [01.]+", words[2])
    file.write_text(row + row.replace('["b"]', '"b"'))
    assert f"{file}:2: key must be a list" in shell.fails("evaluate", "--lessons", str(file))


def test_evaluate_asks_as_teach_would_have_taught(shell: Shell) -> None:
    def measured(row: str) -> object:
        return shell.rows("evaluate", "--lessons", str(shell.file("l.jsonl", row)))[0]["lessons"]

    clean = measured('{"prompt": "a b", "answer": "c", "paraphrase": "b a"}')
    assert measured('{"prompt": " a b\\n", "answer": "c ", "paraphrase": " b a"}') == clean
    nothing = {"recall": None, "paraphrase_recall": None, "nll": None}
    assert measured('{"prompt": "a", "answer": "b", "rating": "bad"}') == nothing


@pytest.mark.parametrize(
    "row", ['{"text": ""}', '{"text": 5}', '{"turns": []}', '{"turns": [{"role": "x"}]}', "{}"]
)
def test_rows_of_text_that_are_none(shell: Shell, row: str) -> None:
    file = shell.file("text.jsonl", f'{{"text": "fine"}}\n{row}\n')
    assert f"{file}:2:" in shell.fails("evaluate", "--text", str(file))


@pytest.mark.parametrize("content", ["", "no json\n", "[]\n"])
def test_a_text_that_cannot_be_read_is_advised_to_be_a_text(shell: Shell, content: str) -> None:
    said = shell.fails("evaluate", "--text", str(shell.file("text.jsonl", content)))
    assert '{"text": ...}' in said and "prompt" not in said


def test_the_help_says_what_exact_folds(shell: Shell) -> None:
    words = " ".join(shell.run("evaluate", "--help").stdout.split())
    assert "case, white space and spaces before punctuation do not count" in words
