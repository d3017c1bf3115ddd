"""Which of a base's own answers are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.talking.own_answers import NEAR, best, draw, good, kind_of, main, messages, short
from benchmarks.talking.talk_data import fold, load, seen
from engine.model import Model
from engine.tokenizers.tokenizer import Tokenizer
from learning.models.store import SHIPPED
from learning.text.normalise import fold as folded
from personality.book import everyday_path, read_book, shipped_book_path
from tests.spies import decoded

TUNE = NEAR.with_name("talk_tune.jsonl")
OWN = SHIPPED / "smollm2-135m" / "own_answers.txt"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Is gold a metal?", "yes_no"),
        ("do snakes have legs", "yes_no"),
        ("Why is blood red?", "why"),
        ("who repairs cars", "who"),
        ("How many sides has a square?", "how_many"),
        ("How do I undo a knot?", "what"),
        ("Cake or ice cream?", "choice"),
        ("I sold my old car.", "statement"),
    ],
)
def test_the_kind_of_a_message(message: str, kind: str) -> None:
    assert kind_of(message).type == kind


def test_the_first_sentence_or_two_are_kept() -> None:
    assert short("Yes. Gold is a metal. It is heavy.") == "Yes. Gold is a metal."
    assert (
        short("Oslo is the capital of Norway. It lies at the") == "Oslo is the capital of Norway."
    )
    assert short("It is a city in the north of Europe that many people visit each year. Yes.") == (
        "It is a city in the north of Europe that many people visit each year."
    )
    assert short("word " * 40 + ".") == short("and so on and") == ""


def test_lists_people_machines_and_answers_of_another_kind_are_dropped() -> None:
    assert good("Norway has Oslo as its capital.", "what is the capital of norway")
    for answer in (
        "1. Use chopsticks.",
        "As an AI, I cannot say.",
        "My wife says that it is Oslo.",
        "Oslo it is it is. Oslo it is it is.",
        "No, it is not.",
    ):
        assert not good(answer, "what is the capital of norway"), answer
    assert not good("I am a cook, too.", "I sold my old car.")


def test_the_one_that_agrees_with_the_others_stays() -> None:
    drawn = [
        "Oslo is the capital.",
        "Norway's capital is Oslo.",
        "The capital is Bergen in the west.",
    ]
    assert best("what is the capital of norway", drawn) == "Oslo is the capital."
    assert best("what is the capital of norway", ["Rome!", "A cold land.", "Bergen."]) == ""


def test_nothing_that_is_measured_or_taught_is_asked() -> None:
    asked = messages(2000)
    assert len(asked) > 1000 > len(messages()) > 300
    assert seen(load(), asked) == {} and not _taught().intersection(map(folded, asked))


def test_the_first_messages_of_rows_are_asked_too(tmp_path: Path) -> None:
    measured, book = load(TUNE)[0].asked, next(iter(read_book(shipped_book_path()))).question
    rows = tmp_path / "rows.jsonl"
    said = ("Is a spoon for eating soup?", f"{book}!", measured)
    turns = [[{"role": "user", "text": s}, {"role": "assistant", "text": "Yes."}] for s in said]
    lines = [{"turns": one, "source": "knowledge"} for one in turns]
    lines.append({"text": "A spoon is for soup.", "source": "knowledge"})
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert set(messages(5, rows)) - set(messages(5)) == {said[0]}
    assert len(messages(50)) > len(messages(5))


def test_what_is_missing_or_no_row_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"turns": []}\n')
    for arguments, told in (
        (["nobody", "out.txt"], "nobody"),
        (["10m", "out.txt", "--rows", str(rows)], "--rows"),
        (["10m", "out.txt", "--rows", str(tmp_path / "none.jsonl")], "No such file"),
    ):
        monkeypatch.setattr("sys.argv", ["own_answers", *arguments])
        monkeypatch.setenv("VIDYA_HOME", str(tmp_path / "home"))
        with pytest.raises(SystemExit):
            main()
        assert told in capsys.readouterr().err.splitlines()[-1]


def _taught() -> set[str]:
    """The questions of book and everyday talk, without punctuation."""
    paths = (shipped_book_path(), everyday_path())
    return {folded(entry.question) for path in paths for entry in read_book(path)}


def test_the_tuning_questions_are_none_of_the_benchmarks_and_not_learned() -> None:
    tune, talk = load(TUNE), load()
    assert len({q.id for q in tune}) == len(tune) > 150
    learned = [
        text
        for path in (everyday_path(), shipped_book_path())
        for entry in read_book(path)
        for _, text in entry.turns
    ]
    assert seen(tune, [text for q in talk for _, text in q.turns]) == seen(tune, learned) == {}
    assert sum(bool(q.truth) for q in tune if q.category == "facts") == 40
    held = {fold(entry.question) for entry in read_book(OWN)}
    assert len(held) > 250 and not held & {fold(q.asked) for q in (*tune, *talk)}


def test_no_answer_is_drawn_with_an_id_that_chat_never_says(
    tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = decoded(tiny_tokenizer, monkeypatch)
    asked = [f"hello {number}" for number in range(32)]
    assert [message for message, _ in draw(tiny_model, tiny_tokenizer, asked)] == asked
    assert read and read.isdisjoint(tiny_tokenizer.unsaid(tiny_model.config.vocab_size))
