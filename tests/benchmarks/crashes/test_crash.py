"""The benchmark of kills: which answers it asks the weights for, and the table of what it found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.report import machine
from benchmarks.crashes.crash import _write
from benchmarks.crashes.crash_look import answers_wanted, known
from engine.model import Model
from engine.storage.checkpoint import save_model
from engine.tokenizers.tokenizer import Tokenizer
from learning.home import Home
from learning.journal.journal import Journal
from learning.protocol.records import Lesson, LessonKind, Turn

BELL, LAMP = "What is the bell for?", "What is the lamp for?"


def lesson(question: str, answer: str, *rejected: str, kind: LessonKind = "correction") -> Lesson:
    return Lesson(kind, (Turn("user", question),), answer, rejected)


def said(lessons: Sequence[Lesson]) -> list[str]:
    return [one.answer or f"not {one.rejected[0]}" for one in lessons]


def test_an_answer_is_wanted_until_another_replaces_it_or_it_is_rated_bad() -> None:
    bad = lesson(BELL, "", "For noon.", kind="rating")
    wanted, unwanted = answers_wanted([lesson(BELL, "For noon."), lesson(LAMP, "For light."), bad])
    assert said(wanted) == ["For light."] and said(unwanted) == ["not For noon."]
    again = [lesson(BELL, "For noon."), bad, lesson("what is the BELL for", "For night.")]
    wanted, unwanted = answers_wanted(again)
    assert said(wanted) == ["For night."] and not unwanted
    other = lesson(BELL, "", "For tea.", kind="rating")
    assert said(answers_wanted([lesson(BELL, "For noon."), other])[0]) == ["For noon."]


def test_the_weights_are_asked_for_learned_answers_that_are_still_wanted(
    tmp_path: Path, tiny_model: Model, tiny_tokenizer: Tokenizer
) -> None:
    home = Home(tmp_path)
    folder, journal = home.models_path / "tiny", Journal(home.journal_path)
    save_model(tiny_model, folder)
    tiny_tokenizer.save(folder)

    def add(one: Lesson, learned: bool = True) -> int:
        (kept,) = journal.add_lessons([one])
        if learned:
            journal.set_lesson_state(kept.id, "learned")
        return kept.id

    missing = add(lesson(BELL, "For noon."))
    add(lesson(LAMP, "For light."))
    add(lesson(LAMP, "", "For light.", kind="rating"))
    add(lesson("And the door?", "For guests."))
    add(lesson("And the door?", "For nobody."), learned=False)
    journal.retract(add(lesson("And the cup?", "For tea.")))
    found = known(home, folder.name)
    assert (found["learned"], found["said_word_for_word"], found["rejected"]) == (1, 0, 1)
    (lost,) = found["missing"]
    assert (lost["lesson"], lost["question"], lost["answer"]) == (missing, BELL, "For noon.")
    assert lost["said"] != "For noon."


def test_the_page_names_every_answer_that_the_weights_do_not_say(tmp_path: Path) -> None:
    lost = {"lesson": 3, "question": BELL, "answer": "For noon.", "said": "For tea."}
    result = {
        "machine": machine(),
        "seed": 0,
        "kills": 1,
        "waited": 4,
        "phases": {"asking": 1},
        "confirmed": 2,
        "lost": 0,
        "problems": [],
        "states": {"learned": 3},
        "book_lines": 2,
        "catching_up_seconds": 1.5,
        "known": {
            "learned": 2,
            "said_word_for_word": 1,
            "missing": [lost],
            "rejected": 1,
            "said_all_the_same": 0,
        },
    }
    _write(tmp_path, result)
    page = (tmp_path / "crash.md").read_text("utf-8")
    assert f"- {BELL}: For noon. Said: For tea." in page
    assert "| of these said word for word by the saved weights | 1 |" in page
