"""learning.text.synthetic: conversations that a program writes."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.tokenizers.load import load_tokenizer
from learning.data.corpus import read_documents
from learning.models.store import SHIPPED
from learning.pretraining.synthetic_rows import LeftOut, main, word_pieces, write_rows
from learning.text.synthetic import AGAIN, Row, copying, name, recall, sums, word


def turns(row: Row) -> list[tuple[str, str]]:
    said = [t["text"] for t in row["turns"]]
    assert [t["role"] for t in row["turns"]] == ["user", "assistant"] * (len(said) // 2)
    return list(zip(said[::2], said[1::2], strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_every_answer_that_is_asked_for_was_told(seed: int) -> None:
    row = recall(random.Random(seed))
    pairs = turns(row)
    assert row["source"] == "synthetic_recall"
    question, answer = pairs[-1]
    before = " ".join(text for pair in pairs[:-1] for text in pair).lower()
    # what has to be recalled, the last word of the answer, is among what was said before
    last = re.findall(r"[\w-]+", answer.lower())[-1]
    assert last in before
    assert question.strip()


def test_half_of_the_conversations_tell_facts_of_one_kind() -> None:
    rows = [turns(recall(random.Random(seed))) for seed in range(300)]
    calls = [sum("is called" in a for _, a in pairs) for pairs in rows]
    assert sum(count >= 3 for count in calls) > 10


def test_two_facts_of_one_conversation_never_answer_the_same_question() -> None:
    for seed in range(200):
        asked: dict[str, str] = {}
        for question, answer in turns(recall(random.Random(seed))):
            if question.endswith("?"):
                assert asked.setdefault(question, answer) == answer


def test_relatives_and_animals_have_the_article_of_their_sound() -> None:
    rows = (turns(recall(random.Random(seed))) for seed in range(3000))
    told = [
        text.lower() for pairs in rows for text, _ in pairs if text.lower().startswith("i have a")
    ]
    articles = {who: article for _, _, article, who, *_ in (text.split() for text in told)}
    assert {articles[who] for who in ("aunt,", "owl,", "uncle,")} == {"an"}
    assert {articles[who] for who in ("brother,", "cat,", "teacher,")} == {"a"}


@pytest.mark.parametrize("seed", range(30))
def test_sums_are_right(seed: int) -> None:
    for _, answer in turns(sums(random.Random(seed))):
        a, sign, b, result = re.fullmatch(r"(\d+) ([+-]) (\d+) = (\d+)\.", answer).groups()  # type: ignore[union-attr]
        assert int(a) + int(b) * (1 if sign == "+" else -1) == int(result)


def test_what_is_copied_was_said_just_before() -> None:
    fragments = [" pal", "ice", " however", "ing", " term"]
    for seed in range(60):
        row = copying(random.Random(seed), fragments)
        heard = ""
        for asked, said in turns(row):
            heard = heard if asked in AGAIN else asked
            assert said in heard


def test_copies_after_a_cut_begin_at_a_word_and_go_to_the_end() -> None:
    whole = cut = 0
    for seed in range(200):
        for asked, said in turns(copying(random.Random(seed), [" one", " two", " three", " four"])):
            if asked in AGAIN:
                continue
            words = asked.split(": ")[-1].split()
            assert words[-len(said.split()) :] == said.split()
            whole += asked.endswith(said) and asked in (said, f"Say: {said}")
            cut += len(said.split()) < len(words) - 4
    assert whole > 50 and cut > 20


def test_only_answers_are_learned_and_none_that_nobody_can_know() -> None:
    unknown = 0
    for seed in range(200):
        row = recall(random.Random(seed))
        assert all(t["weight"] == 0 for t in row["turns"] if t["role"] == "user")
        first: set[str] = set()
        for ask, said in zip(row["turns"][::2], row["turns"][1::2], strict=True):
            new = said["text"] not in first
            first.add(said["text"])
            if said.get("weight") == 0:
                unknown += 1
                assert new and ask["text"].endswith("?")
    assert unknown > 50


def test_the_pieces_are_letters_with_their_blank() -> None:
    pieces = word_pieces(load_tokenizer(SHIPPED / "10m"))
    assert len(pieces) > 3_000
    assert all(piece.strip(" ").isalpha() for piece in pieces)
    assert any(piece.startswith(" ") for piece in pieces)


def test_words_are_made_up_and_names_have_capitals() -> None:
    rng = random.Random(0)
    assert len({word(rng) for _ in range(200)}) > 190
    assert all(n[0].isupper() and n[1:].islower() for n in (name(rng) for _ in range(50)))


def test_the_file_is_what_pretraining_reads_and_the_seed_decides(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    write_rows(one, 50, seed=3)
    command = [sys.executable, "-m", "learning.pretraining.synthetic_rows", str(other)]
    subprocess.run([*command, "--rows", "50", "--seed", "3"], check=True)
    assert one.read_bytes() == other.read_bytes()
    documents = list(read_documents(one))
    assert len(documents) == 50
    assert {d.source for d in documents} == {json.loads(r)["source"] for r in one.open()}


def test_a_file_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["synthetic", str(tmp_path / "none" / "rows.jsonl")])
    with pytest.raises(SystemExit):
        main()
    assert "No such file or directory; give a file that can be written" in capsys.readouterr().err


def test_nothing_in_it_is_about_vidya(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", 500)
    told = [
        t["text"]
        for line in (tmp_path / "rows.jsonl").open()
        for t in json.loads(line).get("turns", [])
        if t["role"] == "assistant"
    ]
    assert not [text for text in told if "vidya" in text.lower()]


def test_rows_of_knowledge_talk_and_lives_leave_out_what_is_measured(tmp_path: Path) -> None:
    measured = tmp_path / "measured.jsonl"
    measured.write_text('{"question": "The capital city of Norway: what is it called?"}\n')
    left_out = LeftOut([tmp_path])
    assert left_out("what is the capital city of norway called")
    assert not left_out("What is the capital of Sweden?")
    path = tmp_path / "rows.jsonl"
    write_rows(path, 300, kinds=("knowledge", "small_talk", "lives"), left_out=left_out)
    rows = list(read_documents(path))
    assert {row.source for row in rows} == {"knowledge", "small_talk", "lives"}
    asked = [text for row in rows for role, text in row.turns if role == "user"]
    assert not [text for text in asked if left_out(text)]
    told = next(row for row in rows if row.source == "lives")
    assert set(told.unlearned) == set(range(0, len(told.turns), 2))


def test_a_file_to_leave_out_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "learning.pretraining.synthetic_rows", str(tmp_path / "a")]
    done = subprocess.run(
        [*command, "--leave-out", str(tmp_path / "none.jsonl")], capture_output=True, text=True
    )
    assert done.returncode == 2 and "--leave-out" in done.stderr
