"""Later lessons of the same conversation stay; weights that learned them with what is forgotten do not."""

from __future__ import annotations

import pytest
import torch

from engine.config import Sampling
from engine.storage.checkpoint import load_weights
from engine.storage.weight_files import current_files, current_version, files_at
from learning.channels import learn_from_correction
from learning.journal.journal import Journal
from learning.lessons.forget import forget
from learning.lessons.forget_weights import may_know
from learning.lessons.learner import Learner
from learning.protocol.records import Ask, Correction, Lesson, Turn, Turns
from tests.learning.conftest import Place
from tests.learning.lessons.test_forget import SECRET, innocent
from tests.learning.lessons.test_learner import lesson, open_learner, place  # noqa: F401
from tests.learning.lessons.test_undo import MOVES, Written, publish, written  # noqa: F401

pytestmark = pytest.mark.usefixtures("written")
LATER, TOLD = "What is my cat called?", "Your cat is called Tilly."


def ask(journal: Journal, *texts: str, conversation: int | None = None) -> Ask:
    turns: Turns = tuple(
        Turn("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)
    )
    return journal.add_ask(conversation or journal.new_conversation(), turns, Sampling())


def after_the_word(journal: Journal) -> tuple[Ask, Ask]:
    """The owner says the word, which is no lesson, and asks something else after it."""
    first = ask(journal, "The word is swordfish.")
    journal.set_answer(first.id, "Noted.")
    turns = ("The word is swordfish.", "Noted.", LATER)
    return first, ask(journal, *turns, conversation=first.conversation)


def taught(learner: Learner, asked: Ask, answer: str) -> Lesson:
    """A correction that the weights learned."""
    made = learn_from_correction(asked, answer, None)
    learner.journal.judge(Correction(asked.id, answer), answer)
    (judged,) = learner.journal.judgements(asked.id)
    (kept,) = learner.journal.add_lessons([made], judged.id)
    with torch.no_grad():
        learner.weights.model.get_parameter(MOVES).add_(0.001 * kept.id)
    learner.weights.publish([kept.id], f"lesson {kept.id}", moved=Written.moved)
    learner.journal.set_lesson_state(kept.id, "learned")
    return kept


@pytest.mark.parametrize("by", ["lesson", "text"])
def test_a_later_lesson_waits_to_be_learned_again_without_it(place: Place, by: str) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    publish(learner, lesson("What is first?", "A first one."))
    paths = [*folder.glob("snapshots/*"), current_files(folder).newest]
    before = [load_weights(files_at(folder, path)) for path in paths]
    first = ask(journal, "What is the word?")
    secret = taught(learner, first, SECRET)
    second = ask(journal, "What is the word?", SECRET, LATER, conversation=first.conversation)
    later = taught(learner, second, TOLD)
    named = {"lesson": secret.id} if by == "lesson" else {"text": "swordfish"}
    text = None if by == "lesson" else "swordfish"
    done = forget(home, journal, journal.to_forget(**named), [folder], text=text)
    assert (done.models, done.shortened) == (("tiny",), 1)
    left = journal.lesson(later.id)
    assert (left.state, left.prompt) == ("waiting", (Turn("user", LATER),))
    assert [one.id for one in journal.waiting()] == [later.id]
    journal.close()
    innocent(home, before)


def test_a_lesson_that_alone_quotes_it_leaves_the_weights(place: Place) -> None:  # noqa: F811
    """What was only said was never a lesson, but the later lesson was learned behind it."""
    home, folder, journal = place
    learner = open_learner(place)
    first, asked = after_the_word(journal)
    later = taught(learner, asked, TOLD)
    knew = current_version(folder)
    doomed = journal.to_forget(text="swordfish")
    assert (doomed.asks, doomed.lessons, doomed.relearned) == ((first.id,), (), (later.id,))
    done = forget(home, journal, doomed, [folder], text="swordfish")
    assert done.models == ("tiny",)
    assert knew not in [int(path.stem) for path in (folder / "snapshots").glob("*.safetensors")]
    assert journal.lesson(later.id).state == "waiting"
    assert journal.lessons_in(current_version(folder)) == frozenset()


def test_where_the_weights_stay_the_later_lesson_stays_learned(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    first = ask(journal, "What is the word?")
    secret = taught(learner, first, SECRET)
    second = ask(journal, "What is the word?", SECRET, LATER, conversation=first.conversation)
    later = taught(learner, second, TOLD)
    done = forget(home, journal, journal.to_forget(lesson=secret.id), learner=learner)
    assert done.models == ()
    assert journal.lesson(later.id).state == "learned"
    assert [example.prompt for example in learner.replay.taught] == ["what is my cat called"]


def test_a_book_training_does_not_know_what_stood_before_a_lesson(place: Place) -> None:  # noqa: F811
    """The book has the question and the answer of a lesson, not the talk before it."""
    home, folder, journal = place
    learner = open_learner(place)
    _, asked = after_the_word(journal)
    number = journal.judge(
        Correction(asked.id, TOLD), TOLD, [learn_from_correction(asked, TOLD, None)]
    )
    learner.weights.publish([], "book training", moved=Written.moved)
    trained = current_version(folder)
    doomed = journal.to_forget(text="swordfish")
    assert doomed.relearned == tuple(one.id for one in journal.lessons_of(number))
    done = forget(home, journal, doomed, [folder], text="swordfish")
    assert (done.models, done.shortened, current_version(folder)) == ((), 1, trained)


def test_a_lesson_that_another_model_learned_is_rehearsed_with_what_stood_before_it(
    place: Place,  # noqa: F811
) -> None:
    home, folder, journal = place
    learner = open_learner(place)
    _, asked = after_the_word(journal)
    made = learn_from_correction(asked, TOLD, None)
    number = journal.judge(Correction(asked.id, TOLD), TOLD, [made])
    (later,) = journal.lessons_of(number)
    publish(learner, lesson("What is first?", "A first one."))
    before = current_version(folder)
    assert may_know(journal, before, journal.to_forget(text="swordfish")) == frozenset()
    journal.set_lesson_state(later.id, "learned")  # another model has learned it
    last = publish(learner, lesson("What is last?", "A last one."))
    doomed = journal.to_forget(text="swordfish")
    assert may_know(journal, current_version(folder), doomed) == {later.id}
    done = forget(home, journal, doomed, [folder], text="swordfish")
    assert done.models == ("tiny",)
    assert journal.lesson(last.id).state == "waiting"


def test_weights_that_went_back_say_for_which_lesson(place: Place) -> None:  # noqa: F811
    home, folder, journal = place
    learner = open_learner(place)
    _, asked = after_the_word(journal)
    later = taught(learner, asked, TOLD)
    forget(home, journal, journal.to_forget(text="swordfish"), [folder], text="swordfish")
    assert journal.publication_note(current_version(folder)) == f"without lesson {later.id}"
