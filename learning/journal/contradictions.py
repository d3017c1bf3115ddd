"""Decides whether an answer contradicts a lesson, by comparing words.

"Your dog is called Cajeut." contradicts the lesson "What is my dog called?" - "Your dog is called Bruno.",
whatever the question was: it contains the words that the lesson's question and answer share ("dog",
"called"), and not the word that the lesson's answer adds ("Bruno"). The session, when it makes weak lessons,
and the teacher use it. Imports no torch. Left out: meaning; a contradiction in entirely different words is
not found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from learning.protocol.records import Lesson, Role, Turns
from learning.text.kinds.one_answer import changed_by
from learning.text.normalise import fold, fold_answer, fold_prompt
from learning.text.questions.asking import asks_in_any_order, stands_alone


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ASK = "what who where when why how which whom whose whats whos wheres whens hows do does did"
_MAY = "can could would should will shall"
_SMALL = _set(
    f"""{_ASK} {_MAY} a an the to of in on at for with by from about as if so and or but that this these
    those there here please just then now any some"""
)
_BE, _HAVE = _set("am is are was were be been"), _set("have has had")
_NAME = _set("name named call called")
_MINE = _set("i me my mine myself im ive we us our ours")
_YOURS = _set("you your yours yourself youre youve")
_IS_IN_IT = _set("whats whos wheres whens hows im youre its hes shes")
_OWNER, _VIDYA = "@owner", "@vidya"
_PERSONS = frozenset((_OWNER, _VIDYA))
_LIGHT = _PERSONS | {"is", "have"}
"""Words that alone do not tell what a text is about."""
_TALK = _set("tell remember know again say still really think forget guess mean it its")
"""Words that people add when they ask for something once more."""


@dataclass(frozen=True)
class _Words:
    """The words of a text, independent of the speaker: the owner's "my" and the model's "your" are one
    word."""

    plain: frozenset[str]
    alike: frozenset[str]
    """`plain` with synonyms merged: "name", "named", "call" and "called" are one word."""

    @property
    def content(self) -> frozenset[str]:
        return self.alike - _LIGHT


def _read(text: str, role: Role) -> _Words:
    mine, yours = (_OWNER, _VIDYA) if role == "user" else (_VIDYA, _OWNER)
    found = set[str]()
    for word in fold(text).split():
        if word in _IS_IN_IT:
            found.add("is")
        if word in _MINE:
            found.add(mine)
        elif word in _YOURS:
            found.add(yours)
        elif word in _BE:
            found.add("is")
        elif word in _HAVE:
            found.add("have")
        elif word not in _SMALL:
            found.add(word[:-1] if len(word) > 3 and word[-1] == "s" != word[-2] else word)
    alike = {"name" if word in _NAME else word for word in found}
    return _Words(frozenset(found), frozenset(alike))


@dataclass(frozen=True)
class _Claim:
    """A lesson with the word sets that are compared."""

    lesson: Lesson
    question: str
    """Folded."""
    asked: _Words
    answer: _Words
    said: str
    """The folded answer."""
    rejected: frozenset[str]
    """The folded rejected answers."""
    adds: frozenset[str]
    """Words that only the answer has: "Bruno"."""
    frame: frozenset[str]
    """Words that question and answer share: "dog", "called", the owner. Empty if they are too few to
    recognise the lesson by (see `_enough`)."""
    frame_alike: frozenset[str]
    """`frame` with synonyms merged."""

    def after(self, other: _Claim) -> bool:
        """Whether it was taught later."""
        return self.lesson.id > other.lesson.id

    def says(self, answer: _Words, folded: str) -> bool:
        """Whether an answer agrees with the lesson's answer."""
        return folded == self.said or bool(self.adds) and self.adds <= answer.plain

    def is_about(self, question: str, asked: _Words, asks: bool, answer: _Words) -> bool:
        """Whether an exchange is about the lesson's subject.

        question: folded. asked, answer: the words of question and answer. asks: whether the question asks
        something (learning.text.questions.asking).
        """
        if question == self.question or (self.frame and self.frame <= answer.plain):
            return True
        foreign = asked.content - self.asked.content - self.answer.content - _TALK
        if not asks or foreign or not self.frame_alike:
            return False
        return self.frame_alike <= asked.alike | answer.alike


def _claim(lesson: Lesson) -> _Claim:
    question = lesson.prompt[-1].text if lesson.prompt else ""
    asked, answer = _read(question, "user"), _read(lesson.answer, "assistant")
    return _Claim(
        lesson,
        fold(question),
        asked,
        answer,
        fold_answer(lesson.answer),
        frozenset(map(fold_answer, lesson.rejected)),
        answer.plain - asked.plain - _LIGHT,
        _enough(asked.plain & answer.plain),
        _enough(asked.alike & answer.alike),
    )


def _enough(shared: frozenset[str]) -> frozenset[str]:
    return shared if len(shared) > 1 and shared - _LIGHT else frozenset()


class Contradictions:
    """The owner's lessons, to compare answers with. If several lessons have the same question, or ask for the
    same thing in other words, the last counts."""

    def __init__(self, lessons: Iterable[Lesson] = ()) -> None:
        """lessons: those in effect, oldest first."""
        self._claims: dict[tuple[int, Turns], _Claim] = {}
        self.update(lessons)

    def update(self, lessons: Iterable[Lesson]) -> None:
        """Replaces the lessons by these, oldest first. If a later lesson changes an earlier one, the earlier
        question gets the later answer (`as_changed`). Lessons that stay the same are not parsed again."""
        known, self._claims = self._claims, {}
        for lesson in as_changed(list(lessons)):
            key = lesson.id or -1 - len(self._claims), lesson.prompt
            old = known.get(key)
            fresh = old is None or old.lesson.answer != lesson.answer
            self._claims[key] = old if old and not fresh else _claim(lesson)
        self._last = {claim.question: claim for claim in self._claims.values()}
        self._about: dict[str, list[_Claim]] = {}
        for claim in self._last.values():
            for word in claim.asked.content:
                self._about.setdefault(word, []).append(claim)

    def against(self, question: str, answer: str, after: int = 0) -> Lesson | None:
        """The newest lesson with an id above `after` that the answer contradicts. None if it contradicts
        none, or if it agrees with another lesson on the subject."""
        asked, said = _read(question, "user"), _read(answer, "assistant")
        folded, wording, asks = fold_answer(answer), fold(question), asks_in_any_order(question)
        agree, against = list[_Claim](), list[_Claim]()
        for claim in self._near(wording, asked.content | said.content):
            if not claim.is_about(wording, asked, asks, said):
                continue
            if folded in claim.rejected and folded != claim.said:
                if claim.lesson.id > after:
                    return claim.lesson
            elif claim.lesson.answer:
                (agree if claim.says(said, folded) else against).append(claim)
        exact = self._last.get(wording)
        if exact in against:  # only a later lesson with a reworded question overrules the exact one
            agree = [c for c in agree if c.asked.content == exact.asked.content and c.after(exact)]
            against = [exact]
        newer = [claim.lesson for claim in against if claim.lesson.id > after]
        return max(newer, key=lambda lesson: lesson.id) if newer and not agree else None

    def said(self, question: str, answer: str) -> bool:
        """Whether the lesson with exactly this question (folded) has exactly this answer."""
        claim = self._last.get(fold(question))
        return claim is not None and claim.said == fold_answer(answer)

    def taught(self, turns: Turns) -> bool:
        """Whether a lesson has exactly these turns (folded) as its prompt."""
        question, whole = fold(turns[-1].text), _whole(turns)
        return any(
            len(claim.lesson.prompt) == len(turns) and _whole(claim.lesson.prompt) == whole
            for claim in self._claims.values()
            if claim.question == question
        )

    def asks(self, message: str) -> bool:
        """Whether a message asks a lesson's question: in the same words, or sharing more than half of the
        question's content words, weighted by how rare they are among all questions."""
        wording, asked = fold(message), _read(message, "user")
        if wording in self._last:
            return True
        rows = 1 + len(self._last)
        for claim in self._near(wording, asked.content):
            if claim.asked.alike & _PERSONS <= asked.alike:
                rare = {w: math.log(rows / len(self._about[w])) for w in claim.asked.content}
                shared = sum(rare[word] for word in claim.asked.content & asked.content)
                if shared > sum(rare.values()) / 2:
                    return True
        return False

    def _near(self, wording: str, words: frozenset[str]) -> list[_Claim]:
        """The lesson with that question, and all lessons whose questions contain one of the words."""
        found = {c.question: c for word in words for c in self._about.get(word, ())}
        if wording in self._last:
            found[wording] = self._last[wording]
        return list(found.values())


def replacements(lessons: Sequence[Lesson]) -> dict[int, Lesson]:
    """Number of a lesson -> the later lesson whose answer counts instead: it answers a question that asks for
    the same thing in other words, and says otherwise (learning.text.kinds.one_answer). lessons: in effect,
    oldest first."""
    return {lessons[at].id: lessons[by] for at, by in _changed(lessons).items()}


def as_changed(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons, where each one that has a replacement is the replacement, asked in its own words."""
    by = _changed(lessons)
    return [
        replace(lessons[by[at]], prompt=x.prompt) if at in by else x for at, x in enumerate(lessons)
    ]


def asked_alone(lesson: Lesson) -> bool:
    """Whether the lesson's question makes sense without what was said before it."""
    prompt = lesson.prompt
    return len(prompt) == 1 or (bool(prompt) and stands_alone(prompt[-1].text))


def _changed(lessons: Sequence[Lesson]) -> dict[int, int]:
    """Place of a lesson -> place of its replacement."""
    places = [at for at, x in enumerate(lessons) if x.answer and asked_alone(x)]
    changed = changed_by((lessons[at].prompt[-1].text, lessons[at].answer) for at in places)
    pairs = ((places[at], places[by]) for at, by in changed.items())
    return {at: by for at, by in pairs if fold(lessons[at].answer) != fold(lessons[by].answer)}


def touches(message: str, other: str) -> bool:
    """Whether two messages of the owner share a content word."""
    return bool(_read(message, "user").content & _read(other, "user").content)


def same_person(question: str, other: str) -> bool:
    """Whether the other question of the owner's is about whom the first is about: about the owner himself, or
    Vidya, if that is. "What is Tom's dog called?" is not what "What is my dog called?" asks."""
    return _read(question, "user").alike & _PERSONS <= _read(other, "user").alike


def _whole(turns: Turns) -> str:
    return fold_prompt(turns)
