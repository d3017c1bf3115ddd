"""What the owner told in earlier messages, so that a question about it can be answered with his own words.

    mentions = Mentions(journal, lambda: ["Do you like cats?", "I like all animals."])
    while mentions.step():
        ...
    found = mentions.find("What is my sister called?", encoder.encode(["What is my sister called?"]))

A message is near to a question if its vector, or that of one of its clauses, is (engine.encoder), and if they
share rare words: words that few messages and few lines of the book have. Only the journal keeps what was
told: after each start the vectors of the newest messages are computed again. Where he said that Helen is his
wife, what he tells of Helen is read as told of his wife too. Left out: where what is said back stands among
the answers (learning.teacher.answer_check).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import torch
from torch import Tensor

from engine.encoder import shipped_encoder
from learning.journal.journal import Journal
from learning.text.changes import repeats, tells_a_change
from learning.text.kinds.named import Names, shares_persons_alone
from learning.text.kinds.told import Statement
from learning.text.mention import (
    clauses,
    said_back,
    said_back_in_doubt,
    told_in,
)
from learning.text.normalise import fold
from learning.text.questions.another import (
    asked_words,
    asks_in_general,
    of_somebody_else,
    tells_of_another,
)
from learning.text.questions.asked_for import lacks_form, seems_to_lack_form

NEWEST, MOST_TOLD = 2_000, 4_000
"""Most messages that are looked at, the newest, and most that these tell."""
PIECE = 32
"""Messages per pass, some 150 ms."""
BIAS, NEAR, IDF, LACKING, WHOLE, PERSONS = -6.05, 9.34, 0.09, -1.63, 0.74, -0.52
"""Coefficients of how likely a question asks for a message: logistic regression on the cosine of the two; on
the summed inverse document frequency of the words that they share, in nats (the log of the number of all
texts by the number of those that have the word); on whether it seems to lack what is asked for, a place for
example; on whether it has all content words of the question; and on whether they share no words but those for
persons. benchmarks.facts.mention_weighing fitted them on the tuning half of people.jsonl and on
everyday_tune.jsonl."""
OF_KIND = 0.9
"""How likely a question asks for a message that is known to tell just what it asks for."""
OF_OTHER_KIND = 0.7
"""Factor on how likely it is that a message is asked for which is known to tell something else."""
LEAST = 0.35
"""A message is said back if it is at least this likely that the question asks for it."""
MOST = 3
"""Most that are said back to one question."""
LEAST_CHANGED = 0.75
"""The same for what tells a change of what was taught (benchmarks/results/said_and_taught.md)."""
AS_LIKELY = 0.3
"""Of the likeliest message and those that are less likely by at most so much the newest comes first: it may
say what has changed."""


_NOT = re.compile(r"\b(?:not|never|no longer)\b|n['\u2019]t\b", re.IGNORECASE)
"""What says only what is not so does not come first for being newer."""


@dataclass(frozen=True)
class Mention:
    """A statement of the owner's."""

    text: str
    """His words."""
    when: float
    """Seconds since the epoch."""
    likely: float = 0.0
    """That the question asks for it, 0 to 1."""
    of_kind: bool = False
    """Whether it is known to tell just what is asked for (learning.text.kinds.told)."""
    named: bool = False
    """Whether question and statement name somebody of whom the owner has told who he is."""
    doubted: bool = False
    """Whether the answer says that the question may ask for something else."""
    reading: str = ""
    """How they are read instead: "my wife turned 46", for "Helen turned 46"."""

    @property
    def read(self) -> str:
        """What a question is compared with."""
        return self.reading or self.text

    @property
    def answer(self) -> str:
        """His words, said back to him."""
        return (said_back_in_doubt if self.doubted else said_back)(self.text)


class Mentions:
    """What can be said back to the owner of a journal. Not thread-safe."""

    def __init__(
        self,
        journal: Journal,
        common: Callable[[], Iterable[str]],
        naming: Callable[[], Iterable[str]] = list,
    ) -> None:
        """common: gives texts whose words are not rare. naming: gives further statements of the owner's that
        may tell who is called what."""
        self._journal, self._texts_of_common, self._naming = journal, common, naming
        self._mark: object = None
        self._told: dict[str, Mention] = {}
        """Folded text -> the newest message that has it, oldest first."""
        self._words: dict[str, set[str]] = {}
        """Content word -> folded texts."""
        self._vectors: dict[str, Tensor] = {}
        """Folded text -> [P, S], of the statement and its clauses."""
        self._facts: dict[str, Statement] = {}
        """Folded text -> what its clauses tell."""
        self.names, self._readings = Names({}), dict[str, list[str]]()
        """Who is called what, and folded text of a statement -> how it may be read therefore."""
        self._texts, self._having = 0, Counter[str]()
        """Number of texts, of the journal and common ones, and of those that have a word."""

    def refresh(self) -> None:
        """Reads the messages again if they have changed. Raises JournalError."""
        mark = (self._journal.messages_mark(), self._journal.lessons_mark())
        if mark == self._mark:
            return
        found, words = dict[str, Mention](), defaultdict[str, set[str]](set)
        for message, when in self._journal.messages(NEWEST):
            for told in told_in(message):
                found.setdefault(fold(told), Mention(told, when))
            if len(found) >= MOST_TOLD:
                break
        self._told = dict(reversed(self._with_readings(found).items()))
        for text, mention in self._told.items():
            for word in asked_words(mention.read):
                words[word].add(text)
        self._words = dict(words)
        common = self._common if self._told else []
        self._texts = len(self._told) + len(common)
        self._having = Counter(chain.from_iterable(common))
        self._having.update({word: len(texts) for word, texts in words.items()})
        self._vectors = {text: v for text, v in self._vectors.items() if text in self._told}
        self._facts = {text: facts for text, facts in self._facts.items() if text in self._told}
        self._mark = mark

    def _with_readings(self, told: dict[str, Mention]) -> dict[str, Mention]:
        """The statements, each with its readings behind it (learning.text.kinds.named)."""
        names = Names.of(chain(self._naming(), (one.text for one in told.values())))
        kept = self._readings if names == self.names else {}
        self.names, self._readings = names, {}
        found = dict[str, Mention]()
        for text, one in told.items():
            readings = kept[text] if text in kept else names.readings(one.text)
            self._readings[text], found[text] = readings, one
            for reading in readings:
                found.setdefault(fold(reading), replace(one, reading=reading))
        return found

    @cached_property
    def _common(self) -> list[frozenset[str]]:
        """The content words of each common text."""
        return [asked_words(text) for text in self._texts_of_common()]

    def missing(self) -> list[str]:
        """The folded texts that have no vector yet, newest first."""
        return [text for text in reversed(self._told) if text not in self._vectors]

    def step(self) -> bool:
        """Computes a piece of what is missing. Returns False when nothing was. Raises JournalError, and
        CheckpointError if the encoder cannot be read."""
        self.refresh()
        piece = self.missing()[:PIECE]
        if piece:
            parts = [clauses(self._told[text].read) for text in piece]
            vectors = shipped_encoder().encode([*chain.from_iterable(parts)])
            rows = vectors.split([*map(len, parts)])
            self._facts |= dict(zip(piece, map(Statement.of, parts), strict=True))
            self._vectors |= {text: v.clone() for text, v in zip(piece, rows, strict=True)}
        return bool(piece)

    def find(self, message: str, parts: Tensor, said: Iterable[str] = ()) -> list[Mention]:
        """At most MOST statements that may answer the message: first those that are known to. Of these and of
        the rest comes first the newest of the likeliest, then the others, the likeliest first.

        parts: vectors, [P, S], of the message and its sentences. said: the owner's messages in this talk,
        whose statements are not found. A statement without a vector is not found."""
        found = self._likely(message, message, parts, said=said)
        known = [one for one in found if one.of_kind]
        others = [one for one in found if not one.of_kind]
        return [*_newest_first(known), *_newest_first(others)][:MOST]

    def changed(self, message: str, question: str, answer: str, since: float) -> Mention | None:
        """The statement after `since`, in seconds since the epoch, that tells a change of what was taught;
        None if there is none, or if a newer one repeats what was taught. question, answer: of the lesson that
        answers the message; such a statement is near to both. Raises CheckpointError if the encoder cannot be
        read."""
        taught = f"{question} {answer}"
        vectors = shipped_encoder().encode([taught])
        found = self._likely(message, taught, vectors, question=question)
        found = [one for one in found if one.when > since and one.likely >= LEAST_CHANGED]
        told = [one for one in found if tells_a_change(one.read, question, answer)]
        first = next(iter(_newest_first(told)), None)
        if first and any(x.when > first.when and repeats(x.read, question, answer) for x in found):
            return None
        return first

    def _likely(
        self,
        message: str,
        text: str,
        parts: Tensor,
        *,
        said: Iterable[str] = (),
        question: str | None = None,
    ) -> list[Mention]:
        """All statements that may answer the message, the likeliest first. text: what they must be near to,
        parts: its vectors, [P, S]. said: as of `find`. question: another one for the same."""
        named = self.names.speaks_of_one(message)
        if asks_in_general(message, of_his=named):
            return []
        looked_at, cosines, idfs = self.evidence(text, parts, said)
        sums = (BIAS + NEAR * cosines + IDF * idfs).tolist()
        found = list[Mention]()
        for mention, evidence in zip(looked_at, sums, strict=True):
            told = self._facts[fold(mention.read)]
            asked_for = told.tells(message)
            of_kind = asked_for or (question is not None and told.tells(question))
            if not of_kind and _likelihood(evidence + WHOLE) < LEAST:
                continue  # most of them, so the slower rules come after this
            about = asked_for or not of_something_else(message, mention.read)
            if about and (asked_for or not lacks_form(message, mention.read)):
                lacking, whole, persons = signs(message, mention.read)
                signed = LACKING * lacking + WHOLE * whole + PERSONS * persons
                likely = _likelihood(evidence + signed)
                if of_kind:
                    likely = max(likely, OF_KIND)
                elif told.tells_something_else(message):
                    likely *= OF_OTHER_KIND
                of_his = named and self.names.speaks_of_one(mention.read)
                found.append(replace(mention, likely=likely, of_kind=of_kind, named=of_his))
        found = sorted((x for x in found if x.likely >= LEAST), key=lambda one: one.likely)
        best = {one.text: one for one in found}  # of a statement's readings the likeliest
        return sorted(best.values(), key=lambda one: -one.likely)

    def evidence(
        self, message: str, parts: Tensor, said: Iterable[str] = ()
    ) -> tuple[list[Mention], Tensor, Tensor]:
        """The N statements that `find` chooses from; the cosine of the message and of the nearest
        clause of each, [N]; and the summed idf of the words that each shares with it, [N]."""
        here = {fold(told) for text in (*said, message) for told in told_in(text)}
        texts = [
            text
            for text, one in self._told.items()
            if text in self._vectors and fold(one.text) not in here
        ]
        if not texts:
            return [], torch.empty(0), torch.empty(0)
        rows = [self._vectors[text] for text in texts]
        near = (torch.cat(rows) @ parts.T).amax(1)
        cosines = torch.stack([one.amax() for one in near.split([*map(len, rows)])])
        shared = self._shared(message)
        idfs = torch.tensor([shared[text] for text in texts])
        return [self._told[text] for text in texts], cosines, idfs

    def _shared(self, message: str) -> dict[str, float]:
        """{folded text: summed idf of the words that it shares with the message, in nats}."""
        found = defaultdict[str, float](float)
        for word in asked_words(message):
            for text in self._words.get(word, ()):
                found[text] += math.log(self._texts / self._having[word])
        return found


def _newest_first(found: list[Mention]) -> list[Mention]:
    """The newest of the likeliest, then the others. found: sorted, the likeliest first."""
    if not found:
        return []
    as_likely = [one for one in found if one.likely >= found[0].likely - AS_LIKELY]
    first = max(as_likely, key=lambda one: (not _NOT.search(one.text), one.when))
    return [first, *(one for one in found if one is not first)]


def _likelihood(evidence: float) -> float:
    return 1.0 / (1.0 + math.exp(-evidence))


def signs(message: str, told: str) -> tuple[float, float, float]:
    """What LACKING, WHOLE and PERSONS are for: 0 or 1 each."""
    asked = asked_words(message)
    whole = bool(asked) and asked <= asked_words(told)
    lacking, persons = seems_to_lack_form(message, told), shares_persons_alone(message, told)
    return float(lacking), float(whole), float(persons)


def of_something_else(message: str, told: str) -> bool:
    """Whether a statement is about somebody or something else than the message."""
    return of_somebody_else(message, told) or _of_another(message, told)


def _of_another(message: str, told: str) -> bool:
    """Whether all clauses of a statement that share a word with the message tell of somebody else."""
    asked, (whole, *parts) = asked_words(message), clauses(told)
    near = [part for part in parts if asked_words(part) & asked]
    return all(tells_of_another(message, part) for part in near or [whole])
