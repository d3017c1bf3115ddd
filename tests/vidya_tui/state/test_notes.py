"""What stands under the answers of a conversation that is opened again."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import Sampling
from learning.journal.judgements import Judged
from learning.journal.lesson_list import keep_understanding
from learning.protocol.model_events import WouldPick
from learning.protocol.records import Pick, Rating, Turn, Understanding
from tests.stage import Stage, play
from vidya_tui.state.notes import note_of, recalled
from vidya_tui.state.transcript import LogEntry


@pytest.mark.slow
def test_what_was_understood_stands_there_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("first")
        await stage.sees("five answers")
        await stage.press("2")
        await stage.sees("preferred 2")
        await stage.say("second")
        await stage.sees("five answers")
        await stage.say("third")  # unjudged
        await stage.sees("five answers")
        await stage.say("/correct Typed by hand.")
        await stage.sees("will answer")
        await stage.say("/rate bad")
        await stage.sees("rated bad")
        number = stage.session.conversation
        before = stage.app.chat.conversation._window.entries[:]
        await stage.press("ctrl+n")
        await stage.until(lambda: "preferred" not in stage.text())
        assert number is not None
        stage.app.chat._controller.open(number)  # type: ignore[union-attr]
        stage.app.chat.draw()
        for words in (
            "preferred 2 over 1, 3, 4, 5",
            "went on with this one, unjudged",
            "will answer \u201cTyped by hand.\u201d \u00b7 rated bad",
        ):
            await stage.sees(words)
        entries = stage.app.chat.conversation._window.entries[:]

        def said(entries: list[LogEntry]) -> list[str]:
            """Without what became of it, which may come later."""
            return [entry.note.split(" \u00b7 learned")[0] for entry in entries]

        assert said(entries) == said(before)

    play(scenario, tmp_path, size=(100, 60))


def test_what_became_of_it_is_told_and_what_was_taken_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        journal, session = stage.journal, stage.session
        states = ("learned", "needs_practice", "waiting")
        for number, state in enumerate(states):
            stage.exchange(f"message {number}")
            assert session.ask is not None
            (judged,) = [j for j in journal.judgements(session.ask.id) if j.stands]
            for lesson in journal.lessons_of(judged.id):
                journal.set_lesson_state(lesson.id, state)  # type: ignore[arg-type]
                keep_understanding(journal, lesson.id, Understanding(4, 5, 1, 3))
        withdrawn = judged.id
        session.say("and on")
        journal.withdraw(withdrawn)
        number = session.conversation
        assert number is not None
        stage.app.chat._controller.open(number)  # type: ignore[union-attr]
        stage.app.chat.draw()
        answers = [recalled(journal, session, at).words() for at in (1, 3, 5)]
        over = "preferred 1 over 2, 3, 4, 5"
        assert answers == [
            f"{over} \u00b7 learned, known in 4 of 5 ways, given to 1 of 3 other questions",
            f"{over} \u00b7 needs practice",
            "taken back",
        ]

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_it_had_expected_stands_in_the_note_of_a_pick(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("first")
        await stage.sees("five answers")
        asked = stage.session.ask
        assert asked is not None
        stage.app.chat.need().hear([WouldPick(asked.id, 2)])  # nothing was picked yet
        await stage.press("3")
        await stage.sees("preferred 3")
        assert "expected" not in stage.text()
        stage.app.chat.need().hear([WouldPick(asked.id, 2)])
        stage.app.chat.draw()
        await stage.sees("it had expected 2")
        await stage.say("/pick 2")
        await stage.sees("preferred 2")
        assert "expected" not in stage.text(), "that was said of the other pick"
        stage.app.chat.need().hear([WouldPick(asked.id + 1, 4), WouldPick(asked.id, 2)])
        stage.app.chat.draw()
        await stage.sees("as it had expected")

    play(scenario, tmp_path, size=(100, 60))


def test_a_reason_is_in_the_note() -> None:
    pick = Judged(1, Pick(1, 2, "shorter please"), "Hi.", 0.0, True)
    rating = Judged(2, Rating(1, "good", "because it is\nshort"), "Hi.", 0.0, True)
    assert note_of("Hi.", [pick, rating], lambda: [1, 2, 3]).words() == (
        "preferred 2 over 1, 3, for \u201cshorter please\u201d \u00b7 rated good: because it is short"
    )


def test_an_answer_that_nobody_chose_among_others_has_none(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        journal, session = stage.journal, stage.session
        number = journal.new_conversation()
        ask = journal.add_ask(number, (Turn("user", "from a file"),), Sampling())
        journal.set_answer(ask.id, "it was imported")
        session.open(number)
        assert recalled(journal, session, 1).words() == ""

    play(scenario, tmp_path)


def test_where_there_is_no_answer_there_is_no_note(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        controller = stage.app.chat._controller
        assert controller is not None
        assert controller._notes.at(1) == controller._notes.at(7) == ""

    play(scenario, tmp_path)
