"""/lessons and the before/after view: keys in, words on the screen, rows in the journal."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from learning.channels import learn_from_book
from learning.protocol.events import Checked, LessonDone, Ready, WorkerLost
from learning.protocol.records import Lesson, Turn
from learning.protocol.requests import Check, Compare, Learn, StopComparing, Undo
from tests.stage import Stage, play
from vidya_tui.settings.file import Settings


async def teach(stage: Stage, message: str, pick: str) -> None:
    await stage.say(message)
    await stage.sees("five answers")
    await stage.press(pick)
    await stage.sees(f"preferred {pick}")


def lesson(question: str, answer: str) -> Lesson:
    return learn_from_book((Turn("user", question),), answer)


def book(stage: Stage) -> str:
    return stage.home.book_path.read_text() if stage.home.book_path.exists() else ""


@pytest.mark.slow
def test_an_empty_list_says_how_to_fill_it_and_escape_goes_back(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/lessons")
        await stage.sees("Nothing was taught yet")
        assert "e edit" not in stage.footer()
        await stage.press("escape")
        await stage.sees("Say something")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_was_taught_is_listed_with_what_is_known_now(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await teach(stage, "What colour is the sky?", "2")
        stage.journal.add_lessons(
            [lesson("My dog?", "[bold]Rufus[/] \x1b[31m"), lesson("b?", "Bad.")]
        )
        stage.teacher.unknown = {"Bad."}
        await stage.say("/lessons")
        await stage.sees("lessons · 3")
        await stage.sees("\u2713 What colour is the sky? \u2192 two answers")
        await stage.sees("\u2717 b? \u2192 Bad.")
        await stage.sees("My dog? \u2192 [bold]Rufus[/] \u241b[31m")
        await stage.sees("not known")
        probes = {p.answer for check in stage.teacher.sent(Check) for p in check.probes}  # type: ignore[attr-defined]
        assert len(probes) == 3
        # the learner is heard here too: all is asked anew
        stage.teacher.unknown = {"two answers"}
        stage.journal.set_lesson_state(2, "learned")
        stage.hear(
            LessonDone(
                *(2, "pick", False, True, 1, 32, 0.1, 1.0, 0.1, False),
                version=5,
            )
        )
        await stage.sees("\u2717 What colour is the sky?")
        await stage.sees("\u2713 b? \u2192 Bad.")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_reached_an_answer_that_was_left_standing_is_shown(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("Do you like rain?")
        await stage.sees("five answers")
        await stage.say("Where is the sea?")
        await stage.until(lambda: len(stage.session.turns) == 3 and stage.app.chat.can_pick(2))
        await stage.press("2")
        await stage.sees("preferred 2")
        await stage.say("/rate bad")
        await stage.sees("rated bad")
        await stage.say("/lessons")
        await stage.sees("lessons · 3")
        await stage.press("end")
        await stage.sees("left standing, not")
        await stage.sees("counts 0.01 of")
        await stage.sees("rated bad 1 turn later")

    play(scenario, tmp_path, size=(120, 30), settings=Settings(theme="dark", left_standing=True))


@pytest.mark.slow
def test_what_cannot_be_looked_at_is_said_and_not_asked_for_ever(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.journal.add_lessons([lesson("My dog?", "Rufus.")])
        hear, stage.teacher.on_event = stage.teacher.on_event, None
        await stage.say("/lessons")
        await stage.until(lambda: len(stage.teacher.sent(Check)) == 1)
        (check,) = stage.teacher.sent(Check)
        assert isinstance(check, Check)
        stage.teacher.on_event = hear
        stage.hear(Checked(check.key, (), 1, "out of memory"))
        await stage.sees("! out of memory")
        await stage.sees("? My dog?")
        await stage.press("down", "up", "f")
        await stage.sees("waiting")
        assert len(stage.teacher.sent(Check)) == 1
        stage.hear(Ready("10m", 2, 10_200_000, "cpu"))
        await stage.sees("\u2713 My dog?")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_lessons_are_found_and_filtered(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.journal.add_lessons([lesson(f"question {n}?", f"answer {n}") for n in range(300)])
        stage.journal.set_lesson_state(7, "learned")
        stage.teacher.unknown = {"answer 5", "answer 250"}
        await stage.say("/lessons answer 29")
        await stage.sees("lessons · 13")
        await stage.press("slash")
        await stage.until(lambda: "the list" in stage.footer())
        await stage.press("enter")  # to what was found; nothing is opened
        await stage.until(lambda: "f filter" in stage.footer())
        await stage.press("slash")
        await stage.until(lambda: "the list" in stage.footer())
        await stage.press("ctrl+u")
        await stage.write("ANSWER 294 question")
        await stage.sees("lessons · 1")
        await stage.sees("question 294? \u2192 answer 294")
        await stage.press("ctrl+u")
        await stage.sees("lessons · 300")
        await stage.press("tab")
        await stage.until(lambda: "f filter" in stage.footer())
        await stage.press("f", "f")
        await stage.sees("lessons · 1 · learned")
        await stage.press("f")
        await stage.sees("No lesson needs practice.")
        await stage.press("f", "f")
        await stage.sees("2 of 300 · not known now")
        await stage.sees("\u2717 question 250?")
        await stage.until(lambda: "not checked" not in stage.text())
        await stage.press("f")
        await stage.press("end")
        await stage.sees("question 0?")

    play(scenario, tmp_path)


def test_withdrawing_asks_first_and_takes_it_out_of_journal_book_and_weights(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        await teach(stage, "What colour is the sky?", "2")
        assert "two answers" in book(stage)
        await stage.say("/lessons")
        await stage.sees("two answers")
        await stage.press("w")
        await stage.sees("Take lesson 1 back: will answer")
        await stage.press("x")
        await stage.sees("nothing was changed")
        assert stage.journal.to_undo() == []
        await stage.press("w")
        await stage.sees("y yes")
        await stage.press("y")
        await stage.sees("taken back")
        await stage.until(lambda: stage.teacher.sent(Undo) == [Undo(1)])
        assert "two answers" not in book(stage)
        assert stage.session.answer is None
        await stage.until(lambda: "w withdraw" not in stage.footer())
        # and it can be taught again, as a lesson of its own
        await stage.press("t")
        await stage.sees("lesson 1 is taught again, as lesson 2")
        await stage.sees("told")
        assert stage.journal.lesson(2).answer == "two answers"
        assert "two answers" in book(stage)

    play(scenario, tmp_path)


@pytest.mark.slow
def test_a_lesson_is_edited_wherever_it_came_from(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await teach(stage, "What colour is the sky?", "2")
        await stage.press("ctrl+n")
        await teach(stage, "hello", "1")
        stage.journal.add_lessons([lesson("My dog?", "Rufus.")])
        stage.teacher.send(Learn())
        await stage.say("/lessons")
        await stage.sees("lessons · 3")
        await stage.press("e")
        await stage.sees("What should the answer have been?")
        await stage.press("ctrl+a", "ctrl+k")
        await stage.write("Rex.")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cRex.\u201d")
        await stage.sees("lessons · 4")
        await stage.sees("replaced")
        changed = stage.journal.lesson(4)
        assert (changed.answer, changed.rejected, changed.replaces) == (
            "Rex.",
            ("Rufus.",),
            "Rufus.",
        )
        # one of an earlier conversation: its answer there is another now
        await stage.press("end", "enter")
        await stage.sees("What should the answer have been?")
        await stage.press("ctrl+a", "ctrl+k")
        await stage.write("Blue.")
        await stage.press("ctrl+s")
        await stage.sees("will answer \u201cBlue.\u201d")
        assert stage.journal.answer(1) == "Blue."
        assert "<|user|> What colour is the sky? <|assistant|> Blue." in book(stage)
        assert stage.session.answer == "one answer", "the open conversation is another one"
        # the same once more says so
        await stage.press("home", "e", "ctrl+s")
        await stage.sees("! that is what the lesson says already")

    play(scenario, tmp_path)


def test_a_lesson_that_needs_practice_waits_again(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.journal.add_lessons([lesson("My dog?", "Rufus.")])
        stage.journal.set_lesson_state(1, "needs_practice")
        await stage.say("/lessons")
        await stage.sees("practice")
        await stage.press("t")
        await stage.sees("lesson 1 is taught again")
        await stage.sees("learned")
        assert [state for state, _ in stage.journal.lesson_events(1)] == [
            *("waiting", "needs_practice", "waiting", "learned")
        ]

    play(scenario, tmp_path)


@pytest.mark.slow
def test_before_and_after_stand_side_by_side(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await teach(stage, "What colour is the sky?", "2")
        await stage.say("/lessons")
        await stage.sees("two answers")
        await stage.press("b")
        await stage.sees("before: version 1")
        await stage.sees("now: version 2")
        await stage.sees("an old answer")
        await stage.sees("a new answer")
        row = next(line for line in stage.text().split("\n") if "an old answer" in line)
        assert "a new answer" in row
        await stage.sees("the likeliest answer is another; 2 of 3 drawn changed; 1 lesson between")
        (first,) = stage.teacher.sent(Compare)
        assert isinstance(first, Compare)
        assert (first.lesson, first.version, first.n) == (1, None, 4)
        await stage.press("left_square_bracket")
        await stage.sees("before: as the model came")
        await stage.press("r")
        await stage.until(lambda: len(stage.teacher.sent(Compare)) == 3)
        _, second, third = stage.teacher.sent(Compare)
        assert isinstance(second, Compare) and isinstance(third, Compare)
        assert (second.seed, second.version) == (first.seed, 0)
        assert third.seed != first.seed
        await stage.press("slash")
        await stage.write("who are you")
        await stage.press("enter")
        await stage.sees("You said \u201cwho are you\u201d")
        last = stage.teacher.sent(Compare)[-1]
        assert isinstance(last, Compare) and last.turns == (Turn("user", "who are you"),)
        await stage.press("escape")
        await stage.sees("lessons · 1")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_where_no_earlier_weights_are_left_it_says_so(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.say("/compare")
        await stage.sees("no")  # nothing was taught: the command does not work yet
        assert stage.teacher.sent(Compare) == []
        await stage.press("ctrl+u")
        await teach(stage, "hello", "2")
        stage.teacher.before = ()
        await stage.say("/compare 1")
        await stage.sees("! no weights from before it are left; teach on")
        stage.hear(WorkerLost("killed", restarting=True))
        await stage.pilot.pause()
        await stage.sees("no weights from before it are left")
        await stage.press("escape")
        await stage.say("/compare 99")
        await stage.sees("lesson 99 is not in the journal")

    play(scenario, tmp_path)


def test_leaving_stops_the_comparison(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await teach(stage, "hello", "2")
        hear, stage.teacher.on_event = stage.teacher.on_event, None
        await stage.say("/compare")
        await stage.sees("loading the earlier weights")
        stage.teacher.on_event = hear
        await stage.press("escape")
        await stage.until(lambda: len(stage.teacher.sent(StopComparing)) == 1)

    play(scenario, tmp_path)


@pytest.mark.slow
def test_rows_answer_to_the_mouse(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        stage.journal.add_lessons([lesson(f"question {n}?", f"answer {n}") for n in range(9)])
        await stage.say("/lessons")
        await stage.sees("question 8?")
        await stage.pilot.click("#rows", offset=(5, 3))
        await stage.sees("will answer \u201canswer 5\u201d")
        await stage.pilot.click("#rows", offset=(5, 3), times=2)
        await stage.sees("What should the answer have been?")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_ten_thousand_lessons_open_as_fast_as_ten(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        with stage.journal.writing() as connection:
            connection.executemany(
                "INSERT INTO lessons (kind, prompt, answer, rejected, weight, state, created)"
                " VALUES ('example', ?, ?, '[]', 1.0, 'learned', ?)",
                [(f'[["user", "question {n}"]]', f"answer {n}", float(n)) for n in range(10_000)],
            )
        await stage.say("/lessons")
        await stage.sees("lessons · 10,000")
        await stage.press("end")
        await stage.sees("question 0 \u2192 answer 0")
        read = stage.app.screen.rows._rows  # type: ignore[attr-defined]
        assert len(read) <= 256, "only what is in sight was read"
        sent = sum(len(check.probes) for check in stage.teacher.sent(Check))  # type: ignore[attr-defined]
        assert sent <= 200
        stage.app.post_message(events.Key("home", None))
        await stage.sees("question 9999")

    play(scenario, tmp_path)


@pytest.mark.slow
def test_what_nobody_judged_stands_in_the_list_with_its_kind_and_can_be_taken_back(
    tmp_path: Path,
) -> None:
    async def scenario(stage: Stage) -> None:
        # as journals have them from before there was a setting, learned and waiting
        asked = (Turn("user", "What is my dog called?"),)
        old = Lesson("continuation", asked, "Your dog is called Cajeut.", weight=0.1)
        words = Lesson("owner_words", (), "I feed the gulls.", weight=0.02)
        loose = Lesson("continuation", (Turn("user", "Hello?"),), "Who is there?", weight=0.1)
        stage.journal.add_lessons([old, words, loose, lesson("What is my dog called?", "Bruno.")])
        stage.journal.set_lesson_state(1, "learned")
        await stage.say("/lessons")
        await stage.sees("lessons · 4")
        for line in (
            "left      waiting    \u00b7 Hello? \u2192 Who is there?",
            "own words waiting    \u00b7 I feed the gulls.",
            "left      replaced   \u00b7 What is my dog call\u2026 \u2192 Your dog is called Caje",
        ):
            await stage.sees(line)
        (check,) = stage.teacher.sent(Check)
        assert isinstance(check, Check) and [p.answer for p in check.probes] == ["Bruno."]
        await stage.press(*"ffffff")
        await stage.sees("lessons · 1 · what you judged")
        await stage.press("f")
        await stage.sees("lessons · 3 · what you did not judge")
        await stage.sees("leans a little towards \u201cWho is there?\u201d")
        await stage.press("down")
        await stage.sees("expects you to say \u201cI feed the gulls.\u201d")
        await stage.until(
            lambda: "t teach" not in stage.footer() and "w withdraw" in stage.footer()
        )
        await stage.press("end", "w")
        await stage.sees("Take lesson 1 back: leans a little towards")
        await stage.press("y")
        await stage.until(lambda: Undo(1) in stage.teacher.requests)
        assert stage.journal.lesson(1).state == "undone"
        await stage.sees("taken back")
        # and what was left standing can be taught for good
        await stage.press("home", "t")
        await stage.sees("lesson 3 is taught again, as lesson 5")
        taught = stage.journal.lesson(5)
        assert (taught.kind, taught.answer, taught.weight) == ("example", "Who is there?", 1.0)
        assert "<|user|> Hello? <|assistant|> Who is there?" in book(stage)

    play(scenario, tmp_path)
