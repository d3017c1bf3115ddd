"""benchmarks.lessons.collapse: the lessons, the stored rows and the report."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import BenchOptions
from benchmarks.baselines import ATTEMPTS
from benchmarks.baselines.bag_of_words import share_found
from benchmarks.lessons import collapse
from benchmarks.lessons.collapse import chosen_methods, pick, words_alone
from benchmarks.lessons.collapse_data import (
    DATA,
    TALK_ROWS,
    WIN_PROMPTS,
    make_yardstick,
    other_talk,
    pick_prompts,
    preferred,
    read_lessons,
)
from benchmarks.lessons.collapse_pupils import METHODS
from benchmarks.lessons.collapse_report import parts, picture, picture_of, summary
from benchmarks.lessons.collapse_rows import FILE, Rows
from engine.errors import NotFound
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.line_chart import Line
from learning.memory.own_talk import own_talk
from learning.text.key import holds
from learning.text.normalise import fold, fold_prompt
from personality.book import read_book, shipped_book_path

START = {"model": "10m", "start": "abc", "quick": False}


# ---------------------------------------------------------------- what is taught


def questions(file: str) -> set[str]:
    rows = map(json.loads, (DATA / file).read_text("utf-8").splitlines())
    return {fold(text) for row in rows for text in (row["prompt"], row["paraphrase"])}


def test_a_hundred_lessons_that_share_no_question() -> None:
    rows = read_lessons()
    asked = [fold(text) for row in rows for text in (row.prompt, row.paraphrase)]
    assert len(rows) == 100 and len(set(asked)) == 200
    assert sum(row.contradicts for row in rows) == 15
    others = [questions(f"{name}.jsonl") for name in ("lessons20", "lessons_tune", "lessons_tune2")]
    assert not set(asked) & set().union(*others)
    assert len(set().union(*others)) == sum(map(len, others)), "nor do the others share any"


@pytest.mark.parametrize("file", ["lessons20", "lessons_tune", "lessons_tune2", "lessons100"])
def test_every_lesson_has_a_key_that_its_answer_holds_and_its_questions_do_not(file: str) -> None:
    for row in read_lessons(DATA / f"{file}.jsonl"):
        assert row.key and holds(row.answer, row.key, row.without)
        if not row.without:  # yes and no stand in any talk
            for text in (row.prompt, *row.rewordings, row.paraphrase):
                assert " or " in text or not holds(text, row.key), text


def test_what_contradicts_the_book_and_what_does_not() -> None:
    book = {fold_prompt(e.turns[:-1]): fold(e.answer) for e in read_book(shipped_book_path())}
    for row in read_lessons():
        old = book.get(fold(row.prompt))
        assert (old is not None) == row.contradicts, row.prompt
        assert old != fold(row.answer)
        assert fold(row.paraphrase) not in book


def test_paraphrases_share_few_words() -> None:
    shares = [
        len(set(fold(row.prompt).split()) & set(fold(row.paraphrase).split()))
        / len(set(fold(row.prompt).split()))
        for row in read_lessons()
    ]
    assert max(shares) <= 0.6 and sum(shares) / len(shares) < 0.3


def test_words_alone_find_a_question_by_its_rarest() -> None:
    questions = ["What is my dog called?", "What is my cat called?", "Where do I live?"]
    asked = [
        (0, "name of my dogs"),
        (1, "my cat, please"),
        (2, "what is my address"),
        (2, "live where"),
    ]
    assert share_found(questions, ["what is the time"], asked) == 0.75
    assert share_found(questions, [], asked[:2]) == 1.0
    assert share_found(questions, ["what is the time"], asked, count=4) == 1.0
    found = words_alone(read_lessons())
    assert set(found) == {"rewordings", "paraphrases"}
    assert 0.5 < found["rewordings"] < 0.7 and found["paraphrases"] < 0.2


def test_three_rewordings_of_each_lesson_that_no_other_asks() -> None:
    rows = read_lessons()
    again = [fold(text) for row in rows for text in row.rewordings]
    assert {len(row.rewordings) for row in rows} == {3} and len(set(again)) == 300
    assert not set(again) & {fold(text) for row in rows for text in (row.prompt, row.paraphrase)}
    book = {fold_prompt(e.turns[:-1]) for e in read_book(shipped_book_path())}
    contradicts = {fold(text) for row in rows if row.contradicts for text in row.rewordings}
    assert not (set(again) - contradicts) & book


def test_without_a_corpus_no_talk_is_measured_that_a_learner_replays(
    tiny_model: Model, tiny_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIDYA_CORPUS", raising=False)
    replayed = own_talk(tiny_model, tiny_tokenizer, tmp_path)
    yard = make_yardstick(tiny_tokenizer, tiny_model, [], replayed)
    assert "never replayed" in yard.talk_source
    assert 0 < len(yard.talk) <= TALK_ROWS
    assert not {e.ids for e in yard.talk} & {e.ids for e in replayed}
    assert other_talk(tiny_model, tiny_tokenizer, yard.talk) == [], "these are the same each time"


def test_no_prompt_is_both_picked_on_and_measured() -> None:
    picked, measured = pick_prompts()
    assert len(measured) == WIN_PROMPTS and len(picked) >= 120
    assert not {fold(p) for p in picked} & {fold(p) for p in measured}
    assert pick_prompts() == (picked, measured)


def test_the_first_preferred_candidate_is_picked_over_all_others() -> None:
    lesson = pick("Hm.", ["No.", "Is it? ", "Why?", "No.", ""])
    assert lesson is not None and lesson.kind == "pick"
    assert lesson.answer == "Is it?" and lesson.rejected == ("No.", "Why?")
    assert pick("Hm.", ["No.", "Yes."]) is None, "nothing to prefer"
    assert pick("Hm.", ["No?", "Yes?"]) is None, "nothing to choose"
    assert preferred("Why?") and not preferred("Because!")


# ---------------------------------------------------------------- methods


def test_every_attempt_is_a_method() -> None:
    assert set(METHODS) == {*ATTEMPTS, "recipe", "recipe-without-pauses"}


def test_methods_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIDYA_COLLAPSE_METHODS", raising=False)
    assert chosen_methods(False) == ["recipe", *ATTEMPTS]
    assert len(chosen_methods(True)) == 4
    monkeypatch.setenv("VIDYA_COLLAPSE_METHODS", "combined, recipe")
    assert chosen_methods(False) == ["combined", "recipe"]
    monkeypatch.setenv("VIDYA_COLLAPSE_METHODS", "luck")
    with pytest.raises(NotFound, match="'luck' does not exist"):
        chosen_methods(True)


# ---------------------------------------------------------------- rows


def test_a_run_that_was_cut_goes_on_where_it_was(tmp_path: Path) -> None:
    rows = Rows(tmp_path, START)
    rows.add("recipe", 0, "lessons", {"at": 0, "book": 1.0})
    rows.add("recipe", 0, "lessons", {"at": 10, "book": 0.9})
    rows.finish("recipe", 0, "lessons")
    rows.add("recipe", 1, "lessons", {"at": 0, "book": 0.5})
    with (tmp_path / FILE).open("a") as file:
        file.write('{"model": "10m", "sta')  # killed while it wrote
    again = Rows(tmp_path, START)
    assert again.has("recipe", 0, "lessons")
    assert not again.has("recipe", 1, "lessons") and not again.has("recipe", 0, "picks")
    assert [row["at"] for row in again.finished()] == [0, 10], "what is not whole does not count"
    for at in (0, 10):
        again.add("recipe", 1, "lessons", {"at": at, "book": 0.8})
    again.finish("recipe", 1, "lessons")
    found = Rows(tmp_path, START).finished()
    assert [(row["seed"], row["book"]) for row in found] == [(0, 1.0), (0, 0.9), (1, 0.8), (1, 0.8)]


def test_rows_of_another_start_are_not_mixed_in(tmp_path: Path) -> None:
    other = Rows(tmp_path, {**START, "start": "old"})
    large = Rows(tmp_path, {**START, "model": "49m", "start": "x"})
    quick = Rows(tmp_path, {**START, "quick": True})
    for rows in (other, large, quick):
        rows.add("recipe", 0, "lessons", {"at": 0})
        rows.finish("recipe", 0, "lessons")
    rows = Rows(tmp_path, START)
    assert not rows.has("recipe", 0, "lessons")
    assert [row["model"] for row in rows.finished()] == ["49m"]


def test_without_a_folder_rows_are_kept_in_memory() -> None:
    rows = Rows(None, START)
    rows.add("recipe", 0, "picks", {"at": 0})
    rows.finish("recipe", 0, "picks")
    assert rows.has("recipe", 0, "picks") and len(rows.finished()) == 1


# ---------------------------------------------------------------- what is made of them


def two_seeds() -> list[dict[str, Any]]:
    """The recipe keeps the book, an attempt loses half of it."""
    rows = []
    for method, kept in (("recipe", 0.8), ("combined", 0.4)):
        for seed, more in ((0, 0.0), (1, 0.1)):
            same = {**START, "method": method, "seed": seed, "part": "lessons"}
            rows.append({**same, "at": 0, "known": None, "book": 0.8, "talk_nll": 2.0})
            rows.append(
                {**same, "at": 10, "known": kept + more, "book": kept, "talk_nll": 2.0 + 2 * more}
            )
            same["part"] = "picks"
            rows.append({**same, "at": 0, "win": 0.2, "book": 0.8, "talk_nll": 2.0})
            rows.append({**same, "at": 40, "win": 0.4 + more, "book": kept, "talk_nll": 2.0})
    return rows


def test_means_spreads_and_curves_by_hand() -> None:
    found = summary(two_seeds())["10m"]
    assert list(found) == ["recipe", "combined"]
    lost = found["combined"]["lessons"]
    assert lost["seeds"] == [0, 1]
    assert lost["known"]["mean"] == pytest.approx(0.45)
    assert lost["known"]["spread"] == pytest.approx(0.1 / 2**0.5)
    assert lost["book_kept"] == {"mean": pytest.approx(0.5), "spread": 0.0}
    assert lost["talk_rise"]["mean"] == pytest.approx(0.05)
    assert found["recipe"]["picks"]["win"]["mean"] == pytest.approx(0.45)
    assert found["recipe"]["picks"]["win_before"]["mean"] == pytest.approx(0.2)
    curves = found["combined"]["curves"]
    assert curves["book"] == [[0, 0.8], [10, pytest.approx(0.4)]]
    assert curves["known"] == [[10, pytest.approx(0.45)]]


def test_the_tables_name_every_method_and_what_it_is() -> None:
    result = {
        "lessons": 100,
        "picks": 40,
        "preference": "p",
        "pause_seconds": {"10m": 20.0},
        "threads": 1,
        "talk": "t",
        "words_alone": {"rewordings": 0.616, "paraphrases": 0.12},
        "quick": True,
        "models": summary(two_seeds()),
    }
    text = "\n\n".join(parts(result))
    assert "| combined | 2 |" in text and "50.0 ± 0.0 %" in text and "+5.0 ± 7.1 %" in text
    assert "*combined*, two to seven together" in text and "not to be quoted" in text
    assert "62% of the rewordings and 12% of the paraphrases" in text


def test_the_picture_is_whole_and_readable_in_the_dark() -> None:
    text = picture_of("10m", summary(two_seeds())["10m"])
    root = ElementTree.fromstring(text)
    lines = [e for e in root.iter() if e.tag.endswith("polyline")]
    assert len(lines) == 4, "two methods in two panels"
    assert "prefers-color-scheme: dark" in text
    words = {e.text for e in root.iter() if e.tag.endswith("text")}
    assert {"recipe", "combined", "lessons taught", "100 %"} <= words


def test_points_of_the_picture_by_hand() -> None:
    text = picture("t", [("a < b", [Line("one", [(0, 1.0), (5, 0.0)]), Line("two", [(5, 0.5)])])])
    ElementTree.fromstring(text)
    points = re.findall(r'points="([^"]*)"', text)
    assert points == ["660.0,183.0", "52.0,58.0 660.0,308.0"], "the first is drawn last"


# ---------------------------------------------------------------- all together


@pytest.fixture
def tiny(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> BenchOptions:
    folder = tmp_path / "tiny"
    save_model(tiny_model, folder, dtype=torch.float32)
    tiny_tokenizer.save(folder)
    monkeypatch.delenv("VIDYA_CORPUS", raising=False)
    monkeypatch.setenv("VIDYA_COLLAPSE_METHODS", "single-1e-4")
    monkeypatch.setattr(collapse, "pick_prompts", lambda: (["Hello", "Why so?"], ["Really"]))
    monkeypatch.setattr(collapse, "preferred", lambda text: "a" in text)
    return BenchOptions(tmp_path / "home", str(folder), (3,), True, tmp_path / "out")


@pytest.mark.slow
def test_a_run_measures_writes_and_does_not_measure_again(
    tiny: BenchOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tiny.out is not None
    result = collapse.run(tiny)
    method = result["models"]["tiny"]["single-1e-4"]
    assert method["lessons"]["seeds"] == [3] and method["lessons"]["known"]["mean"] == 0.0
    assert method["curves"]["book"][0] == [0, 0.0]
    assert {"collapse.json", "collapse.md", "collapse-tiny.svg", FILE} == {
        path.name for path in tiny.out.iterdir()
    }
    told = (tiny.out / "collapse.md").read_text("utf-8")
    assert "VIDYA_COLLAPSE_METHODS=single-1e-4 vidya bench collapse" in told
    before = (tiny.out / FILE).read_bytes()
    monkeypatch.setattr(collapse, "open_pupil", None)  # nobody is taught
    again = collapse.run(tiny)
    assert (tiny.out / FILE).read_bytes() == before
    assert again["models"] == result["models"]
