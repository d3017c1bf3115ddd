"""POST /v1/feedback: judgements of any ask, and what they teach."""

from __future__ import annotations

from typing import Any

import pytest

from learning.protocol.events import Failed, Forgotten, Understood
from learning.protocol.reason_events import ReasonGivenUp
from learning.protocol.records import Correction, Pick, Rating, Understanding
from learning.protocol.requests import Generate, Learn, Undo
from tests.vidya_tui.server.conftest import Behind, Serve, Served
from vidya_tui.session.session import Session
from vidya_tui.settings.file import Settings

FIELDS = "lesson kind known_before known_after steps batch loss book_recall seconds rolled_back"


def judgements(served: Served, ask: int = 1) -> list[Any]:
    return [one.judgement for one in served.journal.judgements(ask) if one.stands]


def test_a_pick_is_learned_before_it_returns(serve: Serve) -> None:
    served = serve()
    served.ask(n=3)
    report = served.judge(1, pick=1)
    assert list(report) == FIELDS.split()
    assert (report["lesson"], report["kind"]) == (1, "pick")
    assert judgements(served) == [Pick(1, 2)]
    (lesson,) = served.journal.lessons()
    assert (lesson.answer, lesson.rejected) == ("two answers", ("one answer", "three answers"))
    assert lesson.state == "learned"
    book = served.place.home.book_path.read_text()
    assert book.splitlines()[-1] == "<|user|> hello <|assistant|> two answers"
    assert "lesson 1: learned" in served.told[-1]


def test_a_correction_of_the_answer_or_of_a_choice(serve: Serve) -> None:
    served = serve()
    served.ask(n=3)
    assert served.judge(1, say=" Good day. ", index=2)["kind"] == "correction"
    assert judgements(served) == [Correction(1, "Good day.", 3)]
    assert served.journal.lessons()[0].replaces == "three answers"
    served.ask("hello again")
    served.judge(2, say="Hello again.")
    assert served.journal.answer(2) == "Hello again."


def test_a_rating_of_the_answer_or_of_a_choice(serve: Serve) -> None:
    served = serve()
    served.ask(n=3)
    served.judge(1, rating="bad", index=2, reason="too short")
    served.judge(1, rating="good", index=0)
    assert judgements(served) == [Rating(1, "bad", "too short"), Rating(1, "good")]
    bad, good = served.journal.lessons()
    assert (bad.answer, bad.rejected) == ("", ("three answers",))
    assert (good.answer, good.rejected) == ("one answer", ())
    served.judge(1, status=409, rating="good", index=0)
    served.judge(1, rating="bad", index=0)
    assert judgements(served)[-1] == Rating(1, "bad") and len(judgements(served)) == 2
    served.ask("you")
    served.judge(2, rating="good")
    assert served.journal.lessons()[-1].answer == "one answer"


def test_without_waiting_the_number_of_waiting_lessons_returns(serve: Serve) -> None:
    served = serve()
    served.ask(n=2)
    served.place.teacher.journal = None  # type: ignore[union-attr]  # learns nothing now
    assert served.judge(1, pick=0, wait=False) == {"event": "journaled", "waiting": 1}
    assert served.teacher.sent(Learn) == [Learn()]


def test_while_learning_is_off_lessons_wait(serve: Serve) -> None:
    served = serve(settings=Settings(learning=False))
    served.ask(n=2)
    served.place.teacher.journal = None  # type: ignore[union-attr]
    assert served.judge(1, pick=0) == {"event": "journaled", "waiting": 1}


def test_the_same_again_is_a_conflict_and_another_replaces_it(serve: Serve) -> None:
    served = serve()
    served.ask(n=3)
    served.judge(1, pick=1)
    error = served.judge(1, status=409, pick=1)["error"]
    assert error["code"] == "already_judged" and "judged so already" in error["message"]
    served.judge(1, pick=2)
    assert judgements(served) == [Pick(1, 3)]
    assert [lesson.state for lesson in served.journal.lessons()] == ["undone", "learned"]


def test_a_choice_that_is_not_there(serve: Serve) -> None:
    served = serve()
    served.ask(n=5)
    error = served.judge(1, status=400, pick=7)["error"]
    assert error["message"] == "ask 1 has no candidate 7; there are: 0, 1, 2, 3, 4"
    assert error["param"] == "pick"
    for more in ({"say": "x"}, {"rating": "good"}):
        assert served.judge(1, status=400, index=5, **more)["error"]["param"] == "index"
    assert judgements(served) == [] and served.journal.lessons() == []


def test_an_ask_that_is_not_there(serve: Serve) -> None:
    served = serve()
    error = served.judge(1, status=404, pick=0)["error"]
    assert (error["type"], error["param"]) == ("not_found_error", "id")
    assert "ask 1 is not in the journal" in error["message"]


def test_asks_of_other_commands_can_be_judged(serve: Serve) -> None:
    served = serve("a", "b")
    session = Session(served.journal, served.teacher, candidates=2)
    before, served.teacher.on_event = served.teacher.on_event, session.handle
    session.say("from the app")
    served.teacher.on_event = before
    served.judge(1, pick=1)
    assert judgements(served) == [Pick(1, 2)]
    # one without any answer can be taught, and not rated
    silent = served.journal.add_ask(1, session.turns[:1], session.sampling).id
    assert (
        "no answer to rate" in served.judge(silent, status=409, rating="good")["error"]["message"]
    )
    assert "there are: none" in served.judge(silent, status=400, pick=0)["error"]["message"]
    served.judge(silent, say="taught")


def test_an_ask_that_is_being_answered_is_judged_afterwards(serve: Serve) -> None:
    served = serve(manual=True)
    asked = served.behind("hello")
    served.until(lambda: bool(served.teacher.sent(Generate)))
    served.teacher.pump(1)
    error = served.judge(1, status=409, pick=0)["error"]
    assert "still being answered" in error["message"]
    served.teacher.finish()
    asked.result()
    served.judge(1, pick=0)


def test_a_lesson_that_fails_is_told(serve: Serve) -> None:
    served = serve()
    served.ask()
    served.place.teacher.journal = None  # type: ignore[union-attr]

    def judge() -> dict[str, Any]:
        return served.judge(1, status=500, pick=0)

    judged = Behind(judge)
    served.until(lambda: bool(served.teacher.sent(Learn)))
    served.place.events.put(Failed("learn", "the disk is full", "make room"))
    assert judged.result()["error"]["message"] == "the disk is full; make room"
    assert served.journal.waiting_count() == 1 and "the disk is full" in served.told[-1]


def judge_held_back(served: Served, status: int, **body: Any) -> Behind:
    """Judges ask 1 in another thread, while the teacher learns another lesson."""
    sent = len(served.teacher.sent(Learn))
    judged = Behind(lambda: served.judge(1, status=status, **body))
    served.until(lambda: len(served.teacher.sent(Learn)) > sent)
    return judged


REPLACED = "a newer judgement replaced this one; nothing of it is learned"


def test_a_judgement_that_a_newer_one_replaces_does_not_wait_for_ever(serve: Serve) -> None:
    served = serve()
    served.ask(n=2)
    journal, served.teacher.journal = served.teacher.journal, None  # learns nothing now
    first = judge_held_back(served, 409, pick=0)
    second = judge_held_back(served, 200, pick=1)
    assert first.is_alive() and served.teacher.sent(Undo) == [Undo(1)]
    served.teacher.journal = journal
    served.teacher.send(Undo(1))
    error = first.result()["error"]
    assert (error["message"], error["code"]) == (REPLACED, "replaced")
    assert second.is_alive()
    served.teacher.send(Learn())
    assert second.result()["lesson"] == 2


def test_a_replaced_lesson_that_cannot_be_undone_is_waited_for_no_longer(serve: Serve) -> None:
    served = serve()
    served.ask(n=2)
    journal, served.teacher.journal = served.teacher.journal, None
    first = judge_held_back(served, 409, pick=0)
    second = judge_held_back(served, 200, pick=1)
    served.place.events.put(Failed("undo", "earlier weights cannot be read", "teach on"))
    assert first.result()["error"]["message"] == REPLACED
    assert second.is_alive()
    served.teacher.journal = journal
    served.teacher.send(Learn())
    assert second.result()["lesson"] == 2


def test_a_lesson_that_is_forgotten_is_waited_for_no_longer(serve: Serve) -> None:
    served = serve()
    served.ask(n=2)
    served.teacher.journal = None
    judged = judge_held_back(served, 404, pick=0)
    served.journal.forget(conversation=1)
    served.place.events.put(Forgotten(1))
    assert judged.result()["error"]["message"].startswith("lesson 1 is not in the journal")


def test_what_pauses_find_is_told(serve: Serve) -> None:
    served = serve()
    served.place.events.put(Understood(7, Understanding(4, 5, 2, 3)))
    served.place.events.put(Understood(8, Understanding()))  # nothing was asked
    served.place.events.put(ReasonGivenUp(3, "too long"))
    served.until(lambda: len(served.told) == 2)
    assert served.told[0] == "lesson 7: known in 4 of 5 ways, given to 2 of 3 other questions"
    assert "no other answer was found" in served.told[1] and "too long" in served.told[1]


def test_a_book_that_cannot_be_written_stops_no_lesson(serve: Serve) -> None:
    served = serve()
    served.ask()
    served.place.home.book_path.mkdir()
    served.judge(1, say="Hello to you.")
    assert any("not written into the book" in line for line in served.told)


@pytest.mark.parametrize("text", ["\u202e\x1b[2J", "<|assistant|>", "a\nb\u2028c"])
def test_what_is_typed_is_only_text(serve: Serve, text: str) -> None:
    served = serve()
    served.ask(text)
    served.judge(1, say=f"say {text}")
    assert served.journal.answer(1) == f"say {text}"
    assert served.journal.ask(1).turns[-1].text == text.strip()
