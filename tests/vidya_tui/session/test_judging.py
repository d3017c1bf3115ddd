"""Judging from the owner's side: none of these, picks by any way, and the note under the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events

from learning.protocol.events import LessonDone
from learning.protocol.records import Correction, Pick
from learning.protocol.requests import Keep, Learn
from tests.stage import TEXTS, Stage, play
from vidya_tui.screens.chat.commands import UNDO_AGAIN
from vidya_tui.widgets.candidates import CardView


async def asked(stage: Stage) -> None:
    await stage.say("hello")
    await stage.sees("5 five answers")


async def highlight_third(stage: Stage) -> None:
    await stage.press("tab")
    await stage.sees("\u25b81 one")
    await stage.press("down", "down")
    await stage.sees("\u25b83 thre")


def judgements(stage: Stage) -> list[object]:
    return [judged.judgement for judged in stage.journal.judgements(1) if judged.stands]


def note(stage: Stage) -> str:
    """What stands under the last answer."""
    return list(stage.app.chat._controller.log())[-1].note  # type: ignore[union-attr]


# ---------------------------------------------------------------- none of these


@pytest.mark.slow
def test_the_footer_says_what_to_press_where_none_is_right(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.until(lambda: "f2 none of these" in stage.footer())
        assert "esc stop" in stage.footer() and "f1 help" in stage.footer()
        stage.teacher.finish()
        await stage.sees("5 five answers")
        await stage.press("2")
        await stage.until(lambda: "f2 correct" in stage.footer())
        assert "none of these" not in stage.footer()

    play(scenario, tmp_path, manual=True)


@pytest.mark.parametrize("key", ["f5", ""])
def test_it_follows_the_owners_keys(tmp_path: Path, key: str) -> None:
    from vidya_tui.settings.file import Settings

    async def scenario(stage: Stage) -> None:
        await asked(stage)
        await stage.until(lambda: "pick" in stage.footer())
        assert ("f5 none of these" in stage.footer()) is bool(key)
        assert "f2" not in stage.footer()

    settings = Settings(theme="dark", keys={"correct": key})
    play(scenario, tmp_path, settings=settings)


@pytest.mark.slow
def test_the_highlighted_candidate_is_retyped_and_all_are_rejected(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await asked(stage)
        await highlight_third(stage)
        await stage.press("f2")
        await stage.sees("What should the answer have been?")
        await stage.press("end")
        await stage.write("!")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cthree answers!\u201d")
        assert judgements(stage) == [Correction(1, "three answers!", 3)]
        (lesson,) = stage.journal.lessons(kinds=["correction"])
        assert lesson.replaces == "three answers"
        assert set(lesson.rejected) == set(TEXTS) and len(lesson.rejected) == 5
        await stage.until(lambda: stage.app.focused is stage.app.chat.prompt)

    play(scenario, tmp_path)


@pytest.mark.slow
def test_each_candidate_keeps_the_correction_that_was_left(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        async def left(words: str) -> None:
            await stage.press("f2")
            await stage.sees("What should the answer have been?")
            await stage.press("end")
            await stage.write(words)
            await stage.press("escape")
            await stage.sees("not saved")

        await asked(stage)
        await left(" eins")
        await highlight_third(stage)
        await left(" drei")
        await stage.sees("\u25b83 three answers")  # it is highlighted still
        await stage.press("up", "up")
        await stage.sees("\u25b81 one answer")
        await stage.press("f2")
        await stage.sees("one answer")
        assert "drei" not in stage.text()
        await stage.press("escape", "escape", "shift+tab")
        await stage.until(lambda: stage.app.focused is stage.app.chat.prompt)
        await stage.press("f2")
        await stage.sees("three answers drei")  # from the prompt: what was left last
        await stage.press("ctrl+s")
        await stage.sees("will answer")
        assert judgements(stage) == [Correction(1, "three answers drei", 3)]

    play(scenario, tmp_path)


# ---------------------------------------------------------------- digits on the cards


@pytest.mark.slow
def test_a_digit_on_the_cards_is_typed_where_the_prompt_has_text(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await asked(stage)
        await stage.write("i have ")
        await stage.press("tab")
        await stage.sees("\u25b81 one answer")
        await stage.press("3")
        await stage.until(lambda: stage.prompt == "i have 3")
        assert judgements(stage) == [] and stage.session.waiting
        assert stage.app.focused is stage.app.chat.prompt
        await stage.press("ctrl+u", "tab")
        await stage.sees("\u25b81 one answer")
        await stage.press("3")
        await stage.sees("preferred 3")

    play(scenario, tmp_path)


def test_a_burst_on_the_cards_keeps_its_meaning(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await asked(stage)
        await stage.press("tab")
        await stage.sees("\u25b81 one answer")
        for key in "h3":
            stage.app.post_message(events.Key(key, key))
        await stage.until(lambda: stage.prompt == "h3")
        assert judgements(stage) == []
        await stage.press("ctrl+u", "tab")
        await stage.sees("\u25b81 one answer")
        for key in "45":
            stage.app.post_message(events.Key(key, key))
        await stage.until(lambda: stage.prompt == "45")
        assert judgements(stage) == []

    play(scenario, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["click", "enter", "command"])
def test_a_pick_by_any_way_while_answers_stream(tmp_path: Path, way: str) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("3 thre")
        if way == "click":
            for _ in range(2):
                await stage.pilot.click(list(stage.app.chat.query(CardView))[2])
        elif way == "enter":
            await highlight_third(stage)
            stage.teacher.pump(1)
            await stage.press("enter")
        else:
            await stage.say("/pick 3")
        await stage.sees("preferred 3 over 1, 2, 4, 5")
        assert stage.teacher.sent(Keep) == [Keep(1, 3)]
        assert stage.teacher.sent(Learn) == []
        stage.teacher.finish()
        await stage.sees("Vidya  three answers")
        await stage.sees("learned in 0.1 s")
        assert judgements(stage) == [Pick(1, 3)]
        assert stage.app.focused is stage.app.chat.prompt

    play(scenario, tmp_path, manual=True)


# ---------------------------------------------------------------- the note under the answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"known_after": False, "state": "needs_practice"}, "needs practice"),
        ({"rolled_back": True}, "rolled back: it would have cost too much of what was known"),
    ],
)
def test_what_became_of_a_lesson_stands_under_its_answer(
    tmp_path: Path, what: dict[str, Any], words: str
) -> None:
    async def scenario(stage: Stage) -> None:
        await asked(stage)
        await stage.press("3")
        await stage.sees("learned in 0.1 s")
        (lesson,) = stage.journal.lessons(kinds=["pick"])
        report: dict[str, Any] = {
            **{"lesson": lesson.id, "kind": "pick", "known_before": False, "known_after": True},
            **{"steps": 9, "batch": 32, "loss": 2.5, "book_recall": 0.9, "seconds": 4.0},
            **{"rolled_back": False, "version": 3},
        }
        stage.hear(LessonDone(**(report | what)))
        await stage.until(lambda: note(stage) == f"preferred 3 over 1, 2, 4, 5 \u00b7 {words}")
        await stage.sees("preferred 3 over 1, 2, 4, 5 \u00b7 " + words[:11])
        assert "learned in" not in stage.text()

    play(scenario, tmp_path)


PICKED = "preferred 3 over 1, 2, 4, 5 \u00b7 learned in 0.1 s"


async def picked(stage: Stage) -> None:
    await asked(stage)
    await stage.press("3")
    await stage.until(lambda: note(stage) == PICKED)


async def undone(stage: Stage) -> None:
    version = stage.teacher.version
    await stage.press("f8")
    await stage.until(lambda: stage.teacher.version > version)
    await stage.until(lambda: not stage.session.undoing)
    stage.app.chat.need().undone -= UNDO_AGAIN  # that time goes by


@pytest.mark.slow
def test_undo_of_a_pick_leaves_no_note(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await picked(stage)
        await undone(stage)
        assert stage.session.waiting and note(stage) == ""
        assert "preferred" not in stage.text() and "\u00b7 taken back" not in stage.text()
        await stage.press("2")
        await stage.sees("preferred 2 over 1, 3, 4, 5 \u00b7 learned in 0.1 s")

    play(scenario, tmp_path)


def test_undo_of_a_correction_tells_of_the_pick_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await picked(stage)
        await stage.say("/correct no, this")
        await stage.until(
            lambda: note(stage) == "will answer \u201cno, this\u201d \u00b7 learned in 0.1 s"
        )
        await undone(stage)
        await stage.sees("Vidya  three answers")
        assert note(stage) == PICKED
        assert "will answer" not in stage.text()

    play(scenario, tmp_path)


@pytest.mark.slow
def test_undo_of_a_rating_tells_of_the_pick_alone(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await picked(stage)
        await stage.press("alt+up")
        rated = "preferred 3 over 1, 2, 4, 5 \u00b7 rated good \u00b7 learned in 0.1 s"
        await stage.until(lambda: note(stage) == rated)
        await undone(stage)
        assert note(stage) == PICKED and stage.session.rating is None

    play(scenario, tmp_path)


def test_undo_of_an_early_pick_leaves_no_note(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("hello")
        stage.teacher.pump(1)
        await stage.sees("3 thre")
        await stage.press("3")
        await stage.sees("preferred 3")
        await stage.press("f8")
        await stage.sees("the pick was taken back")
        await stage.until(lambda: stage.session.waiting and not stage.session.streaming)
        await stage.sees("3 thre")
        assert "preferred" not in stage.text() and note(stage) == ""

    play(scenario, tmp_path, manual=True)


@pytest.mark.slow
def test_undo_of_what_the_talk_went_on_from_says_so_there(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await picked(stage)
        await stage.press("alt+up")
        await stage.sees("rated good")
        await stage.say("more")
        await stage.until(lambda: len(stage.session.turns) == 3 and stage.session.waiting)

        def first() -> str:
            return list(stage.app.chat._controller.log())[1].note  # type: ignore[union-attr]

        await undone(stage)
        await stage.until(lambda: first() == PICKED)
        await undone(stage)
        await stage.until(lambda: first() == "taken back")
        assert "Vidya  three answers" in stage.text()

    play(scenario, tmp_path)


def test_the_blamed_words_are_shown_and_an_undo_takes_them_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await picked(stage)
        await stage.say("/correct Cats purr. They are fish.")
        await stage.until(lambda: stage.session.answer == "Cats purr. They are fish.")
        await stage.say("/rate bad --from dogs")
        await stage.sees("the answer does not have the words \u201cdogs\u201d")
        await stage.press("escape", *["backspace"] * 30)
        await stage.say("/rate bad end")
        await stage.until(lambda: "rated bad for \u201cThey are fish.\u201d" in note(stage))
        await undone(stage)
        await stage.until(lambda: "rated" not in note(stage))
        assert stage.session.rating is None

    play(scenario, tmp_path)


@pytest.mark.slow
def test_words_marked_with_the_mouse_are_blamed(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await picked(stage)
        await stage.say("/correct Cats purr. They are fish.")
        await stage.sees("Vidya  Cats purr. They are fish.")
        y = next(y for y, line in enumerate(stage.text().splitlines()) if "Vidya  Cats" in line)
        x = stage.text().splitlines()[y].index("They")
        await stage.pilot.mouse_down(offset=(x, y))
        await stage.pilot.hover(offset=(x + 7, y))
        await stage.pilot.mouse_up(offset=(x + 7, y))
        assert stage.app.chat.get_selected_text() == "They are"
        await stage.press("alt+down")
        await stage.until(lambda: "rated bad for \u201cThey are\u201d" in note(stage))
        (*_, lesson) = stage.session.journal.lessons()
        assert lesson.blame == (11, 19)
        assert not stage.app.chat.get_selected_text(), "it is not blamed again by chance"

    play(scenario, tmp_path)


def test_rate_off_withdraws_a_bad_rating_whose_reason_asked_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await picked(stage)
        await stage.say("/rate bad shorter please")
        await stage.until(lambda: len(stage.session.cards) == 5 and not stage.session.streaming)
        assert stage.session.waiting and stage.session.journal.ratings()
        await stage.say("/rate off")
        await stage.sees("lesson 2 taken back")
        assert stage.session.journal.ratings() == []
        await stage.say("/rate off")
        await stage.sees("no answer to rate yet")

    play(scenario, tmp_path)
