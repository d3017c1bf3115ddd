"""Decides which sampled answers may be shown: builds the engine's `Standards` from books and lessons.

An answer is sampled again if
- its form is flawed (learning.text.flaws),
- it comforts an owner who is not in need (learning.text.comfort), and the model is not sure of it,
- it answers "Where do I live?" with the answer taught for "Where do you live?",
- it answers "What is Tom's sister called?" or "What is my brother called?" with what was taught of the
  owner's sister, or "How old is my sister?" with an answer taught for another question and without a number,
- it says of the owner's cat what was taught of his rabbit, whatever was asked,
- it says that Vidya does not know, although an answer was taught or another candidate may know.
If nothing was taught for a question and the model is sure of no answer, the last of several candidates
is NOT_KNOWN. The answer of a lesson that may be meant is offered in place of the one before that. If a lesson
was recalled (learning.teacher.recall) and no candidate gives its answer, the last one does. If the owner may
hurt himself, the last one is CRISIS unless another is, and it counts as the surest. An answer taught for the
question itself is always acceptable. Left out: sampling (engine.generate).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from engine.selection import Finished, Standards
from engine.tokenizers.tokenizer import Tokenizer
from learning.journal.journal import Journal
from learning.memory.tasks import NOT_KNOWN, stands_alone
from learning.protocol.records import Lesson, Turns
from learning.teacher.certainty import AT_A_LOSS, EXPONENT, SURE, certainty, of_not_knowing
from learning.teacher.recall import Recalled
from learning.text.another import asked_words, asks_another, fixed_words, owned, put_in_place
from learning.text.asking import asks_yes_or_no, fits, is_question
from learning.text.comfort import CRISIS, in_danger, in_need, in_place
from learning.text.content import content_words
from learning.text.flaws import Blends, broken, chunks, mended, seams
from learning.text.normalise import fold
from personality.book import NEED, BookEntry, BookError, shipped_book_path
from personality.parsed import ParsedBooks, mark_of

NOT_KNOWN_FOLD, CRISIS_FOLD = fold(NOT_KNOWN), fold(CRISIS)
TAUGHT = 0.97
"""Least certainty of the answer that was taught last for the question itself. Right after a lesson it is
right in 35 of 36 asks, while the model gives it 0.4 (benchmarks/results/calibration.md)."""


@dataclass(frozen=True)
class Known:
    """What books and lessons teach, indexed for checks."""

    answers: dict[str, frozenset[str]]
    """Folded question -> its folded answers."""
    seen: frozenset[str]
    """Words and chunks of all answers; their spelling counts as right."""
    blends: Blends
    """Detects answers that mix two taught ones."""
    comfort: dict[str, frozenset[str]]
    """Folded answer for somebody in need -> the folded questions for which it was written."""
    questions: dict[str, frozenset[str]] = field(default_factory=dict)
    """Folded answer -> the questions for which it was taught."""
    latest: dict[str, str] = field(default_factory=dict)
    """Folded question -> the folded answer that was taught last."""
    pairs: tuple[tuple[frozenset[str], str, str], ...] = ()
    """(`fixed_words` of a question, the question, its answer) of all."""
    owners: tuple[tuple[str, str], ...] = ()
    """(question, answer) where the answer calls a relation, an animal or the like the owner's."""

    @classmethod
    def of(cls, entries: Sequence[BookEntry], lessons: Iterable[Lesson]) -> Known:
        pairs = [
            (entry.turns[i][1], entry.turns[i + 1][1])
            for entry in entries
            for i in range(0, len(entry.turns), 2)
        ]
        pairs += [(x.prompt[-1].text, x.answer) for x in lessons if x.prompt and x.answer]
        need = [(fold(e.answer), fold(e.question)) for e in entries if e.heading.startswith(NEED)]
        texts = [answer for _, answer in pairs]
        folded = [(fold(question), fold(answer)) for question, answer in pairs]
        asked = zip(pairs, folded, strict=True)
        return cls(
            _grouped(folded),
            chunks(texts),
            Blends(texts),
            _grouped(need),
            _grouped((answer, question) for (question, _), (_, answer) in asked),
            dict(folded),
            tuple((fixed_words(question), question, answer) for question, answer in pairs),
            tuple((question, answer) for question, answer in pairs if owned(answer)),
        )

    def of_others(self, message: str, talk: Sequence[str] = ()) -> list[frozenset[str]]:
        """The facts that were taught for questions which `asks_another` tells from the message. A fact is the
        set of the content words that an answer has and its question has not. Left out are answers of yes and
        no, and facts that a lesson, the book or `talk` states about what the message asks for."""
        said, found = asked_words(message), list[frozenset[str]]()
        for fixed, question, answer in self.pairs:
            if not fixed <= said or not asks_another(message, question, answer):
                continue
            about = content_words(message) - content_words(question)
            fact = _fact(question, answer)
            if fact and not _tells(self._texts(talk), about, fact):
                found.append(fact)
        return found

    def of_another(self, text: str, talk: Sequence[str] = ()) -> bool:
        """Whether a text says of one relation, animal or the like of the owner what was taught of another one
        ("Your cat is called Clover.", where that is the rabbit's name), and neither a lesson, the book nor
        `talk` says it of this one too."""
        if not owned(text):
            return False
        said = content_words(text)
        for question, answer in self.owners:
            if words := put_in_place(text, question, answer):
                about = content_words(" ".join(words))
                fact = _fact(question, answer)
                if fact and fact <= said and not _tells(self._texts(talk), about, fact):
                    return True
        return False

    def _texts(self, talk: Sequence[str]) -> Iterable[str]:
        return chain(talk, (f"{question} {answer}" for _, question, answer in self.pairs))

    def of_other_form(self, message: str, text: str) -> bool:
        """Whether a text is a taught answer that does not fit the message, whichever of its questions it was
        taught for. Comfort and not knowing fit every message."""
        folded = fold(text)
        if folded in (NOT_KNOWN_FOLD, CRISIS_FOLD) or folded in self.comfort:
            return False
        questions = self.questions.get(folded, frozenset())
        return bool(questions) and not any(fits(message, asked, text) for asked in questions)


def _fact(question: str, answer: str) -> frozenset[str]:
    """The content words that an answer has and its question has not; empty if it only says yes or no."""
    fact = content_words(answer) - content_words(question)
    return fact if fact - _YES_OR_NO else frozenset()


def _tells(texts: Iterable[str], about: frozenset[str], fact: frozenset[str]) -> bool:
    """Whether one of the texts contains all words of `fact` and at least one word of `about`."""
    for text in map(str.casefold, texts):
        quick = all(word in text for word in fact) and any(word in text for word in about)
        if quick:  # few texts are read whole
            words = content_words(text)
            if fact <= words and about & words:
                return True
    return False


_YES_OR_NO = content_words("yes no")
_OTHERS = {
    **{"i": "you", "me": "you", "my": "your", "mine": "yours", "am": "are", "im": "youre"},
    **{
        "you": "i",
        "your": "my",
        "yours": "mine",
        "youre": "im",
        "myself": "yourself",
        "yourself": "myself",
    },
}


def other_person(question: str) -> str:
    """The question, folded, with first and second person swapped: "where do i live" for "Where do you
    live?"."""
    words = [_OTHERS.get(word, word) for word in fold(question).split()]
    text = f" {' '.join(words)} "  # next, make the verb agree with its subject
    return text.replace(" are i ", " am i ").replace(" i are ", " i am ").strip()


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """First item -> all second items that occur with it."""
    found: dict[str, set[str]] = {}
    for first, second in pairs:
        found.setdefault(first, set()).add(second)
    return {first: frozenset(seconds) for first, seconds in found.items()}


@dataclass
class AnswerCheck:
    """The check of the answers to one ask."""

    turns: Turns
    """The conversation; the last turn is the owner's."""
    known: Known
    several: bool
    """True if more than one candidate is requested."""
    recalled: Recalled | None = None
    """The lesson that stands before the question."""
    find: Callable[[], Recalled | None] = lambda: None
    """Finds the lesson whose answer may be offered."""
    exponent: float = EXPONENT
    """Of certainty, the model's own."""
    offered: Recalled | None = None
    """The lesson whose answer was offered."""
    told: list[float | None] = field(default_factory=list)
    """Certainties of the candidates that `shown` has seen; an offer has none."""

    def __post_init__(self) -> None:
        self._said = [turn.text for turn in self.turns if turn.role == "user"]
        self._seen = self.known.seen | chunks(turn.text for turn in self.turns)
        self._broken = any(broken(turn.text) for turn in self.turns)
        self._answers = self.known.answers.get(fold(self._said[-1]), frozenset())
        question = self._said[-1]
        self._latest = self.known.latest.get(fold(question)) if stands_alone(question) else None
        self._taught = fold(self.recalled.lesson.answer) if self.recalled else ""
        if self._taught:
            self._answers |= {self._taught}
        self._talk = [turn.text for turn in self.turns]
        self._of_others = list[frozenset[str]]()
        if not self._answers:
            self._of_others = self.known.of_others(self._said[-1], self._talk[:-1])
        self._in_need = in_need(self._said)
        self._in_danger = in_danger(self._said[-1]) and not self._answers - {CRISIS_FOLD}

    @property
    def may_not_know(self) -> bool:
        """True if "I do not know" may be right: a question for which nothing was taught."""
        return not self._answers and not self._in_need and is_question(self._said[-1])

    @property
    def _answers_it(self) -> bool:
        """Whether the recalled answer itself is the best one; to a question for a yes or no it is only better
        than a guess."""
        return self.recalled is not None and self._in_form(self.recalled.lesson)

    def _in_form(self, lesson: Lesson) -> bool:
        """Whether the lesson's answer has the form that is asked for: a question for a yes or no is not
        answered by what was taught to another kind of question."""
        taught = lesson.prompt[-1].text
        return asks_yes_or_no(taught) or not asks_yes_or_no(self._said[-1])

    def standards(self, tokenizer: Tokenizer, max_tokens: int) -> Standards:
        """The Standards for engine.generate."""
        text = NOT_KNOWN if self.recalled is None else self.recalled.lesson.answer
        text = CRISIS if self._in_danger else text
        fallback = (*tokenizer.encode(text), tokenizer.chat.end)
        alone = self.recalled is not None or self._in_danger
        fits = (alone or self.may_not_know) and len(fallback) <= max_tokens

        def offer(answers: Sequence[Finished]) -> tuple[int, ...]:
            found = self._to_offer(answers)
            ids = (*tokenizer.encode(found.lesson.answer), tokenizer.chat.end) if found else ()
            self.offered = found if len(ids) <= max_tokens else None
            return ids if self.offered else ()

        fallback = fallback if fits else ()
        return Standards(self.acceptable, fallback, self.at_a_loss, alone, offer)

    def acceptable(self, answer: Finished) -> bool:
        """True if the answer may be shown."""
        folded = fold(answer.text)
        if folded in self._answers:
            return True
        sure = self._certainty(answer) >= SURE
        if folded == NOT_KNOWN_FOLD:  # with several candidates the fallback adds it at the end
            return sure or not (self.several or self._answers)
        if folded in self.known.comfort:
            return sure or in_place(self._said, self.known.comfort[folded])
        if folded in self.known.answers.get(other_person(self._said[-1]), frozenset()):
            return False  # the taught answer is about the other person
        if self._answers_another(answer.text):
            return False
        if broken(answer.text) and not self._broken:
            return False
        return not (seams(answer.text, self._seen) or self.known.blends.blended(answer.text))

    def at_a_loss(self, answers: Sequence[Finished]) -> bool:
        """True if the model is unsure of all answers, so all may be invented; also if none is the answer of
        the recalled lesson, and that answers the question; or if the owner may hurt himself and none is
        CRISIS."""
        if self._in_danger:
            return all(fold(answer.text) != CRISIS_FOLD for answer in answers)
        if self.recalled:
            if any(fold(answer.text) == self._taught for answer in answers):
                return False
            if self._answers_it:
                return True
        if any(fold(answer.text) == NOT_KNOWN_FOLD for answer in answers):
            return False
        return all(self._certainty(answer) < AT_A_LOSS for answer in answers)

    def _to_offer(self, answers: Sequence[Finished]) -> Recalled | None:
        """The lesson that may be meant, if none of these answers is its own."""
        found = self._meant
        given = found and any(fold(one.text) == fold(found.lesson.answer) for one in answers)
        return None if given else found

    @cached_property
    def _meant(self) -> Recalled | None:
        """The lesson that may be meant; to an owner in need none is."""
        found = None if self._in_need or not self.several else self.find()
        return found if found and self._in_form(found.lesson) else None

    def offered_lesson(self, text: str) -> Lesson | None:
        """The lesson that was offered, if that is its answer."""
        lesson = self.offered.lesson if self.offered else None
        return lesson if lesson and fold(text) == fold(lesson.answer) else None

    def _answers_another(self, text: str) -> bool:
        """Whether the text says of this what was taught of something else, or is the answer to another kind
        of question."""
        if not self._answers and self.known.of_other_form(self._said[-1], text):
            return True
        words = content_words(text) if self._of_others else frozenset()
        if any(fact <= words for fact in self._of_others):
            return True
        return fold(text) not in self._answers and self.known.of_another(text, self._talk)

    def _certainty(self, answer: Finished) -> float:
        return certainty(answer.own_logprobs, self.exponent) or 0.0

    def shown(self, answer: Finished, count: int) -> tuple[str, float | None]:
        """(text, certainty 0 to 1 or None) of a final candidate; call it in the order in which they end. An
        offered text has none, nor has what was taught for another question, so neither is ever the surest.
        count: number of all candidates. Repairs the form of a text that no retry made acceptable."""
        if answer.ending == "cancelled":
            return answer.text, None
        text = answer.text if self._broken else mended(answer.text, self._seen)
        if self.offered_lesson(answer.text):
            return text, None
        if self._answers_another(text):
            return text, None  # all retries said it too
        sure = certainty(answer.own_logprobs, self.exponent)
        if self.recalled and sure is not None:
            # given the lesson; the taught answer itself is right if the lesson is the right one
            said = fold(answer.text) == self._taught
            sure = self.recalled.likely * (1.0 if said else sure)
        elif sure is not None and self._meant and fold(text) == fold(self._meant.lesson.answer):
            sure = max(sure, self._meant.likely)  # how sure the model is of it has a part in that
        elif sure is not None and fold(text) == self._latest:
            sure = max(sure, TAUGHT)
        last = len(self.told) == count - 1 - (self.offered is not None)
        if fold(answer.text) == NOT_KNOWN_FOLD and self.may_not_know and last and self.told:
            sure = max(sure or 0.0, of_not_knowing(self.told))
        if self._in_danger and fold(answer.text) == CRISIS_FOLD:
            sure = 1.0
        self.told.append(sure)
        return text, sure


class KnownTexts:
    """Caches `Known` and rebuilds it when the owner's book or the lessons change."""

    def __init__(
        self, journal: Journal, owner_book: Path, books: ParsedBooks | None = None
    ) -> None:
        """books: what the learner parsed already."""
        self._journal, self._book = journal, owner_book
        self._books = books or ParsedBooks()
        self._mark: object = None
        self._known = Known.of((), ())

    def now(self) -> Known:
        """The current `Known`. Ignores unreadable lines of the owner's book. Raises JournalError."""
        lessons = self._journal.standing()
        mark = (mark_of(self._book), tuple((x.id, x.answer) for x in lessons))
        if mark != self._mark:
            entries = [*self._books.entries(shipped_book_path()), *self._own()]
            self._known, self._mark = Known.of(entries, lessons), mark
        return self._known

    def _own(self) -> list[BookEntry]:
        """Entries of the owner's book, without the headings of the shipped one."""
        try:
            return [replace(e, heading="") for e in self._books.entries(self._book, skip_bad=True)]
        except BookError:
            return []
