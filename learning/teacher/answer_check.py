"""Decides which sampled answers may be shown: builds the engine's `Standards` from books and lessons.

An answer is sampled again if
- its form is flawed (learning.text.flaws),
- the model finds it implausible (learning.teacher.certainty),
- it comforts an owner who is not in need (learning.text.comfort), and the model is not sure of it,
- it answers "Where do I live?" with the answer taught for "Where do you live?",
- it answers "What is Tom's sister called?" or "What is my brother called?" with what was taught of the
  owner's sister,
- it answers "How old is my sister?" with what was taught for a question that asks for another kind of thing
  and has no number (learning.text.questions.asked_for),
- it says of the owner's cat what was taught of his rabbit, whatever was asked,
- it answers a question with what was taught for one that means something else (engine.encoder),
- it says what was taught for a question of another kind, "When is your birthday?" for "When did I marry?"
  (learning.text.kinds), unless the encoder finds the two near,
- it says that Vidya does not know, although an answer was taught or another candidate may know.
If nothing was taught for a question and the model is sure of no answer, the last of several candidates is
NOT_KNOWN, and the nearest lessons are offered in place of the others but the likeliest. The answer of a
lesson that may be meant is offered in any case, in place of the last candidate but one. If nothing was
taught, what the owner told earlier and now asks for takes this place (learning.teacher.mentions); of one or
two candidates, and where nothing is offered, the last one says it, if it is likely and the model is sure of
none. If a lesson was recalled (learning.teacher.recall) and no candidate gives its answer, the last one does.
What he said has changed since a lesson takes the place of an offer, and comes before what was taught. If the
owner may hurt himself, the last one is CRISIS unless another is, and it counts as the surest. An answer
taught for the question itself is always acceptable. One that was taught for the same thing in other words of
its kind needs no number, and the encoder need not find it near. Left out: sampling (engine.generate).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from statistics import fmean

from engine.selection import Finished, Standards
from engine.tokenizers.tokenizer import Tokenizer
from learning.memory.tasks import NOT_KNOWN
from learning.protocol.records import Lesson, Turns
from learning.teacher.certainty import (
    AT_A_LOSS,
    EXPONENT,
    PLAUSIBLE,
    SURE,
    certainty,
    of_not_knowing,
)
from learning.teacher.known import CRISIS_FOLD, NOT_KNOWN_FOLD, OF_OWNER, Known
from learning.teacher.mentions import Mention
from learning.teacher.owners_words import MEANT, OwnersWords
from learning.teacher.recall import NEAREST, Recalled
from learning.text.comfort import CRISIS, in_danger, in_need, in_place
from learning.text.content import content_words
from learning.text.flaws import broken, chunks, mended, seams
from learning.text.kinds.told import asks_or_names
from learning.text.mention import quotes
from learning.text.normalise import fold
from learning.text.questions.asking import asks_in_english, stands_alone
from learning.text.questions.other_person import other_person
from learning.text.questions.yes_or_no import asks_yes_or_no

TAUGHT = 0.97
"""Least certainty of the answer that was taught last for the question itself: it is right in 36 of 36 asks,
where the model alone may give it 0.4 (benchmarks/results/calibration.md)."""
FAR = 0.7
"""Cosine of a question and a lesson below which its answer is another's. Chosen on the tuning half of
benchmarks/data/people.jsonl (benchmarks/results/encoder.md)."""


def least_room(tokenizer: Tokenizer, message: str) -> int:
    """Ids that an answer to this message must have room for, however short answers should be: those of CRISIS
    if the owner may hurt himself, else 1."""
    return len(tokenizer.encode(CRISIS)) + 1 if in_danger(message) else 1


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
    nearest: Callable[[], Sequence[Lesson]] | None = None
    """Finds the lessons that are offered if the model knows no answer, nearest first; None: none are."""
    near: Callable[[], Mapping[str, float]] = dict
    """Finds {folded taught answer: cosine of the owner's question and the nearest lesson of that answer}."""
    exponent: float = EXPONENT
    """Of certainty, the model's own."""
    least: float = PLAUSIBLE
    """Least mean log-probability per token of an answer, in nats."""
    mentioned: Callable[[], Sequence[Mention]] | None = None
    """Finds the owner's earlier statements that may answer his question, the best first; None: none are said
    back."""
    offers: bool = False
    """Whether one of several candidates may be a statement that he only perhaps asks for."""
    again: bool = False
    """Whether he has seen answers to the same turns, with what may be said back among them."""
    changed: Callable[[Lesson | None], Mention | None] = lambda _: None
    """Finds the owner's newer statement that tells a change of a lesson; None stands for the lesson that
    teaches just this question."""
    offered: dict[str, Lesson | Mention] = field(default_factory=dict)
    """Folded text of a card that the program offered -> the lesson or the statement that it comes from."""
    told: list[float | None] = field(default_factory=list)
    """Certainties of the candidates that `shown` has seen; an offer has none."""

    def __post_init__(self) -> None:
        self._said = [turn.text for turn in self.turns if turn.role == "user"]
        self._has_room: Callable[[str], bool] = lambda _: True
        """Whether a text is no longer than an answer may be."""
        self._seen = self.known.seen | chunks(turn.text for turn in self.turns)
        self._broken = any(broken(turn.text) for turn in self.turns)
        self._answers = self.known.answers.get(fold(self._said[-1]), frozenset())
        question = self._said[-1]
        self._latest = self.known.latest.get(fold(question)) if stands_alone(question) else None
        self._taught = fold(self.recalled.answer) if self.recalled else ""
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
        """True if "I do not know" may be right: a question for which nothing was taught, or whose lesson
        waits to be learned and cannot be offered."""
        if self._in_need or not asks_or_names(self._said[-1]):
            return False
        waits = fold(self._said[-1]) in self.known.waiting and not (self.recalled or self._meant)
        return waits or not self._answers

    @property
    def _answers_it(self) -> bool:
        """Whether the recalled answer itself is the best one; to a question for a yes or no it is only better
        than a guess."""
        return self.recalled is not None and self._in_form(self.recalled)

    def _in_form(self, found: Recalled) -> bool:
        """Whether the answer has the form that is asked for: a question for a yes or no is not answered by
        what was taught to another kind of question, unless a yes or no could be read out of it."""
        if found.said or not asks_yes_or_no(self._said[-1]):
            return True
        return asks_yes_or_no(found.lesson.prompt[-1].text)

    def standards(self, tokenizer: Tokenizer, max_tokens: int) -> Standards:
        """The Standards for engine.generate."""
        self._has_room = lambda text: len(tokenizer.encode(text)) < max_tokens

        def whole(text: str) -> tuple[int, ...]:
            """Its ids and the end token; empty if it would be cut off."""
            ids = (*tokenizer.encode(text), tokenizer.chat.end)
            return ids if len(ids) <= max_tokens else ()

        def offered(
            found: Iterable[Recalled | Mention], answers: Sequence[Finished]
        ) -> tuple[int, ...]:
            given = {NOT_KNOWN_FOLD, CRISIS_FOLD, *self.offered}
            given |= {fold(one.text) for one in answers}
            for one in found:
                ids = () if self.again and isinstance(one, Mention) else whole(one.answer)
                if ids and fold(one.answer) not in given:
                    origin = one.lesson if isinstance(one, Recalled) else one
                    self.offered[fold(one.answer)] = origin
                    return ids
            return ()

        def offer(answers: Sequence[Finished]) -> tuple[int, ...]:
            perhaps = self._back.statements[:1] if self.offers else [self._back.likely]
            found = (self._back.change, self._meant, *perhaps)
            return offered([one for one in found if one][:1], answers)

        def instead(answers: Sequence[Finished]) -> tuple[int, ...]:
            if not self._lost(answers):
                return ()
            first, rest = self._back.statements[:1], self._back.statements[1:]
            return offered(chain(first, self._perhaps, rest), answers)

        def fallback(answers: Sequence[Finished]) -> tuple[int, ...]:
            if self._in_danger:
                return whole(CRISIS)
            change = self._back.change
            told = (change, self._back.instead_of_guess, self._meant if change else None)
            if ids := offered(filter(None, told), answers):
                return ids
            if self.recalled:
                return whole(self.recalled.answer)
            return whole(NOT_KNOWN) if self.may_not_know else ()

        asks = self.several and self.may_not_know and not self._in_danger
        lost = instead if self.nearest and asks else None
        alone = bool(self.recalled or self._in_danger or self.mentioned)
        return Standards(
            self.acceptable, fallback, self.at_a_loss, alone, self._in_danger, offer, lost
        )

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
        if quotes(answer.text) or self.answers_another(answer.text):
            return False  # only the program quotes him, word for word
        if broken(answer.text) and not self._broken:
            return False
        if answer.own_logprobs and fmean(answer.own_logprobs) < self.least:
            return False
        return not (seams(answer.text, self._seen) or self.known.blends.blended(answer.text))

    def at_a_loss(self, answers: Sequence[Finished]) -> bool:
        """True if the model is unsure of all answers, so all may be invented; also if none is the answer of
        the recalled lesson, and that answers the question; or if the owner may hurt himself and none is
        CRISIS. A single answer stands unless something better is known."""
        if self._in_danger:
            return all(fold(answer.text) != CRISIS_FOLD for answer in answers)
        changed, told = self._back.change, self._back.instead_of_guess
        said = {*self.offered, *(fold(answer.text) for answer in answers)}
        if changed and fold(changed.answer) not in said and not self.again:
            return True
        if self.recalled:
            if any(fold(answer.text) == self._taught for answer in answers):
                return False
            if self._answers_it:
                return True
        if told and fold(told.answer) not in self.offered:
            answers = [one for one in answers if fold(one.text) != NOT_KNOWN_FOLD]
        elif self.mentioned and not self.several:
            return False
        if any(fold(answer.text) == NOT_KNOWN_FOLD for answer in answers):
            return False
        return all(self._certainty(answer) < AT_A_LOSS for answer in answers)

    def _lost(self, answers: Sequence[Finished]) -> bool:
        """Whether none of these answers claims to know what is asked."""
        meant = self._meant
        known = {fold(meant.answer)} if meant and meant.likely >= AT_A_LOSS else set()
        own = [one for one in answers if fold(one.text) not in {*self.offered, NOT_KNOWN_FOLD}]
        return all(self._certainty(one) < AT_A_LOSS and fold(one.text) not in known for one in own)

    @cached_property
    def _perhaps(self) -> list[Recalled]:
        """What is offered to a question that the model cannot answer, the nearest first. Not the lesson that
        may be meant: `offer` has that one, after the model had its chance to give the answer itself."""
        lessons = self.nearest() if self.nearest else ()
        found = [one for one in (Recalled(x, 0.0) for x in lessons) if self._in_form(one)]
        if meant := self._meant:
            found = [one for one in found if fold(one.answer) != fold(meant.answer)][: NEAREST - 1]
        return found

    @cached_property
    def _meant(self) -> Recalled | None:
        """The lesson that may be meant; to an owner in need none is."""
        found = None if self._in_need or not self.several else self.find()
        return found if found and self._in_form(found) else None

    @cached_property
    def _back(self) -> OwnersWords:
        """What of the owner's own words may be said back; to an owner in need nothing is."""
        silent = self._in_need or self._in_danger

        def statements() -> Sequence[Mention]:
            return () if silent or self._answers or not self.mentioned else self.mentioned()

        def change() -> Mention | None:
            found = None if silent else self.recalled or self._meant
            sure = found is not None and found.likely >= MEANT
            return None if silent else self.changed(found.lesson if found and sure else None)

        return OwnersWords(
            self._said[-1],
            self.several,
            statements,
            change,
            lambda: self._meant is not None,
            lambda text: self._has_room(text),
        )

    def _against(self, folded: str) -> Mention | None:
        """What speaks against an answer: not knowing, and what was taught before something changed."""
        if folded == NOT_KNOWN_FOLD:
            return self._back.change or self._back.likely
        taught = {fold(self._meant.answer)} if self._meant else set[str]()
        return self._back.change if folded in self._answers | taught else None

    def origin(self, text: str) -> Lesson | Mention | None:
        """The lesson or the statement whose text the program offered; None if the model wrote this text."""
        return self.offered.get(fold(text))

    @cached_property
    def _cosines(self) -> Mapping[str, float]:
        """`near` of an English question for which nothing was taught."""
        message = self._said[-1]
        asks = not self._answers and not self._in_need and asks_in_english(message)
        return self.near() if asks and stands_alone(message) else {}

    def _means_another(self, text: str) -> bool:
        """Whether the text says something of the owner that was taught for a question which means something
        else. Not if the owner said it in this talk, or if its lesson is likely to be meant."""
        folded = fold(text)
        if self._cosines.get(folded, 1.0) >= FAR:
            return False
        fact = content_words(text) - content_words(self._said[-1])
        if not OF_OWNER.search(text) or any(fact <= content_words(t) for t in self._said[:-1]):
            return False
        meant = self._meant
        return not (meant and meant.likely >= MEANT and fold(meant.answer) == folded)

    def answers_another(self, text: str) -> bool:
        """Whether the text says of this what was taught of something else, or is the answer to another kind
        of question, or to one that means something else. Comfort and not knowing never do."""
        message = self._said[-1]
        if self.known.fits_all(text):
            return False
        if not self.known.of_same_kind(message, text):
            if self._means_another(text):
                return True
            if not self._answers and self.known.of_other_form(message, text):
                return True
        if self.known.of_other_kind(message, text, self._cosines, self._said):
            return True
        words = content_words(text) if self._of_others else frozenset()
        if any(fact <= words for fact in self._of_others):
            return True
        return fold(text) not in self._answers and self.known.of_another(text, self._talk)

    def _certainty(self, answer: Finished) -> float:
        return certainty(answer.own_logprobs, self.exponent) or 0.0

    def shown(self, answer: Finished, count: int) -> tuple[str, float | None]:
        """(text, certainty 0 to 1 or None) of a final candidate; call it in the order in which they end. An
        offered text has none, nor has what was taught for another question, so neither is ever the surest;
        but what the owner probably asks for of his own words is as sure as that is likely. count: number of
        all candidates. Repairs the form of a text that no retry made acceptable."""
        if answer.ending == "cancelled":
            return answer.text, None
        text = answer.text if self._broken else mended(answer.text, self._seen)
        if origin := self.origin(answer.text):
            if not isinstance(origin, Mention):
                return text, None
            return origin.answer, self._back.certainty(origin)
        if self.answers_another(text):
            self.told.append(None)
            return text, None  # all retries said it too
        sure = certainty(answer.own_logprobs, self.exponent)
        if self.recalled and sure is not None:
            # given the lesson; the taught answer itself is right if the lesson is the right one
            said = fold(answer.text) == self._taught
            sure = self.recalled.likely * (1.0 if said else sure)
            if {_first(text), _first(self.recalled.said)} == {"yes", "no"}:
                sure = min(sure, 1.0 - self.recalled.likely)
        elif sure is not None and self._meant and fold(text) == fold(self._meant.answer):
            sure = max(sure, self._meant.likely)  # how sure the model is of it has a part in that
        elif sure is not None and fold(text) == self._latest:
            sure = max(sure, TAUGHT)
        elif sure is not None and (told := self._back.likely) and fold(text) == fold(told.answer):
            sure = max(sure, told.likely)  # the model itself says what he told
        last = len(self.told) == count - 1 - len(self.offered)
        if fold(answer.text) == NOT_KNOWN_FOLD and self.may_not_know and last and self.told:
            sure = max(sure or 0.0, of_not_knowing(self.told))
        if sure is not None and (against := self._against(fold(text))):
            sure = min(sure, 1.0 - against.likely)
        if self._in_danger and fold(answer.text) == CRISIS_FOLD:
            sure = 1.0
        self.told.append(sure)
        return text, sure


def _first(text: str) -> str:
    """The first word, in small letters."""
    return fold(text).partition(" ")[0]
