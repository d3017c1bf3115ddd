"""A reason is carried over to other messages, and leaves with its judgement."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from engine.config import Sampling
from engine.generate import Finished
from engine.tokenizers.tokenizer import Tokenizer
from learning.channels import learn_from_rating, learn_from_selection
from learning.journal.journal import Journal
from learning.lessons import reasons
from learning.lessons.learner import Learner
from learning.lessons.recipe import TeachSettings
from learning.memory.transaction import AtStake
from learning.protocol.reason_events import ReasonGivenUp
from learning.protocol.records import Again, Candidate, Lesson, Pick, Rating, Turn
from tests.learning.conftest import Place

REASON = "shorter please"
OLD, LIKED = "I would say that tea is good.", "Tea is good."


class Model:
    """Answers long, and short where the reason is in the prompt."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.short = "Yes, {}."
        self.ending = "end"

    def generate(
        self, _: object, tokenizer: Tokenizer, ids: list[int], n: int, *__: object, **___: object
    ) -> Iterator[Finished]:
        prompt = tokenizer.decode(ids)
        self.prompts.append(prompt)
        text = "I would say that it is so."
        if REASON in prompt:
            text = self.short.format(len(self.prompts))
        for index in range(1, n + 1):
            yield Finished(index, text, (), (), self.ending)  # type: ignore[arg-type]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    fake = Model()
    monkeypatch.setattr(reasons, "generate", fake.generate)
    monkeypatch.setattr(reasons, "MESSAGES", 3)
    monkeypatch.setattr(reasons, "TRIED", 5)
    monkeypatch.setattr(reasons, "TO_THE_POINT", -99.0)
    monkeypatch.setattr(reasons, "LONGEST", 4)  # the tiny model has little room
    return fake


@pytest.fixture
def learner(tiny_place: Place) -> Learner:
    home, folder, journal = tiny_place
    return Learner(home, folder, journal, seed=0, settings=TeachSettings(steps=2, repair=0))


def picked(journal: Journal) -> int:
    again = Again(OLD, REASON)
    ask = journal.add_ask(
        journal.new_conversation(), (Turn("user", "do you like tea"),), Sampling(), again=again
    )
    card = Candidate(ask.id, 1, LIKED, (), (), "end", 0)
    pick = Pick(ask.id, 1, REASON)
    return journal.judge(pick, LIKED, [learn_from_selection(ask, pick, [card])])


def carried(journal: Journal) -> list[Lesson]:
    return journal.lessons(kinds=["reason"])


def carry_over(learner: Learner) -> None:
    for _ in range(50):
        if not learner.carry_over():
            return
    raise AssertionError("it does not end")


@pytest.mark.slow
def test_other_messages_are_learned_without_the_reason(learner: Learner, model: Model) -> None:
    judgement, before = picked(learner.journal), learner.version
    carry_over(learner)
    lessons = carried(learner.journal)
    assert len({lesson.answer for lesson in lessons}) == 3
    assert all(lesson.answer.startswith("Yes, ") for lesson in lessons)
    for lesson in lessons:
        assert lesson.judgement == judgement and lesson.state == "learned"
        assert len(lesson.prompt) == 1 and lesson.prompt[0].text != "do you like tea"
        assert lesson.rejected == ("I would say that it is so.",)
    assert len({lesson.prompt for lesson in lessons}) == 3
    assert learner.version > before
    assert {lesson.id for lesson in lessons} <= learner.journal.lessons_in(learner.version)
    shown = [prompt for prompt in model.prompts if REASON in prompt]
    assert all(OLD in prompt and LIKED in prompt for prompt in shown)
    assert not learner.carry_over()


@pytest.mark.slow
def test_taking_the_judgement_back_takes_them_back(learner: Learner, model: Model) -> None:
    judgement, before = picked(learner.journal), learner.version
    carry_over(learner)
    learner.journal.withdraw(judgement)
    for lesson in learner.journal.to_undo():
        learner.undo(lesson)
    assert {lesson.state for lesson in carried(learner.journal)} == {"undone"}
    assert not learner.journal.lessons_in(learner.version)
    assert learner.weights.version > before and not learner.carry_over()


def test_an_answer_that_is_the_same_or_in_bad_form_is_left_out(
    learner: Learner, model: Model
) -> None:
    picked(learner.journal)
    model.short = "I would say that it is so."
    carry_over(learner)
    model.short, model.ending = "Yes, {}.", "length"
    picked(learner.journal)
    carry_over(learner)
    assert carried(learner.journal) == [] and learner.version == 0


@pytest.mark.slow
def test_an_answer_to_everything_is_learned_once(learner: Learner, model: Model) -> None:
    picked(learner.journal)
    model.short = "You are welcome."
    carry_over(learner)
    assert [lesson.answer for lesson in carried(learner.journal)] == ["You are welcome."]


@pytest.mark.slow
def test_an_answer_that_misses_the_point_is_left_out(
    learner: Learner, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reasons, "TO_THE_POINT", -2.0)  # a model that learned nothing has -5 or so
    picked(learner.journal)
    carry_over(learner)
    assert carried(learner.journal) == []


@pytest.mark.slow
def test_what_costs_too_much_is_put_back(
    learner: Learner, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    picked(learner.journal)
    monkeypatch.setattr(
        "learning.memory.transaction.AtStake.judged",
        lambda *_: type("Verdict", (), {"passed": False})(),
    )
    carry_over(learner)
    assert {lesson.state for lesson in carried(learner.journal)} == {"needs_practice"}
    assert learner.version == 0


@pytest.mark.slow
def test_praise_is_carried_over_too(learner: Learner, model: Model) -> None:
    journal = learner.journal
    ask = journal.add_ask(journal.new_conversation(), (Turn("user", "hello"),), Sampling())
    rating = Rating(ask.id, "good", REASON)
    lesson = learn_from_rating(ask, "Hi.", "good")
    assert lesson is not None
    journal.judge(rating, "Hi.", [lesson])
    carry_over(learner)
    assert len(carried(journal)) == 3
    assert any(f"That was good, {REASON}." in prompt for prompt in model.prompts)


def test_pauses_carry_over_only_where_it_is_switched_on(
    learner: Learner, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner._pauses, "catch_up", lambda: False)
    picked(learner.journal)
    assert not learner.reasons and not learner.catch_up() and model.prompts == []
    learner.reasons = True
    assert learner.catch_up() and len(carried(learner.journal)) == 1


@pytest.mark.slow
def test_they_are_no_preferences_of_the_owner(learner: Learner, model: Model) -> None:
    picked(learner.journal)
    carry_over(learner)
    (row,) = learner.journal.export_trl()
    assert row["chosen"][0]["content"] == LIKED


def test_a_reason_that_led_to_nothing_is_tried_once_more_and_then_given_up(
    tiny_place: Place, model: Model
) -> None:
    home, folder, journal = tiny_place
    judgement = picked(journal)
    model.short = "I would say that it is so."  # as without the reason
    told, drawn = list[object](), list[int]()
    for _ in range(3):
        before, settings = len(model.prompts), TeachSettings(steps=2, repair=0)
        again = Learner(home, folder, journal, seed=0, settings=settings, tell=told.append)
        carry_over(again)
        carry_over(again)
        drawn.append(len(model.prompts) - before)
    assert carried(journal) == []
    assert drawn == [10, 10, 0], "five messages, twice, in two runs of the program"
    assert [one for one in told if isinstance(one, ReasonGivenUp)] == [
        ReasonGivenUp(judgement, REASON)
    ]


def on_another_model(place: Place, name: str) -> Learner:
    """The learner of a copy of the model, in the same home."""
    home, folder, journal = place
    other = folder.with_name(name)
    if not other.exists():
        shutil.copytree(folder, other)
    return Learner(home, other, journal, seed=0, settings=TeachSettings(steps=2, repair=0))


def test_what_one_model_gave_up_another_tries(tiny_place: Place, model: Model) -> None:
    home, folder, journal = tiny_place
    picked(journal)
    model.short = "I would say that it is so."
    for _ in range(2):
        carry_over(Learner(home, folder, journal, seed=0))
    model.short = "Yes, {}."
    carry_over(Learner(home, folder, journal, seed=0))
    assert carried(journal) == [], "given up"
    carry_over(on_another_model(tiny_place, "larger"))
    assert [lesson.state for lesson in carried(journal)] == ["learned"] * 3


def test_what_was_put_back_on_one_model_is_learned_by_another(
    tiny_place: Place, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tiny_place[2]
    picked(journal)
    judged, passes = list[str](), False

    def judge(stake: AtStake, _: object) -> object:
        judged.append("judged")
        return type("Verdict", (), {"passed": passes})()

    monkeypatch.setattr("learning.memory.transaction.AtStake.judged", judge)
    carry_over(on_another_model(tiny_place, "small"))
    assert [lesson.state for lesson in carried(journal)] == ["needs_practice"] * 3
    tries = len(judged)
    carry_over(on_another_model(tiny_place, "small"))
    assert len(judged) == tries, "not again on this model"
    passes = True
    carry_over(on_another_model(tiny_place, "larger"))
    assert [lesson.state for lesson in carried(journal)] == ["learned"] * 3
    tries = len(judged)
    carry_over(on_another_model(tiny_place, "small"))
    assert len(judged) == tries, "it is still given up there"
    carry_over(on_another_model(tiny_place, "larger"))
    assert [lesson.state for lesson in carried(journal)] == ["learned"] * 3
    assert len(judged) == tries, "and still known here"
