"""What the owner's judgements say about taste: choices among answers, and opinions of single ones.

A pick is a choice among the candidates that were whole; a correction, also after "none of these", a choice of
the typed text over them; a rating an opinion. Judgements that were withdrawn, or whose lessons were undone,
are left out. Where the owner does not keep answers that were not chosen (`keep_unchosen`), picks have nothing
left to be compared with; a correction still has the answer that it replaced. Imports no torch.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from learning.journal.journal import Journal
from learning.journal.judgements import Judged
from learning.journal.rows import LESSON_COLUMNS, judgement_from_row, lesson_from_row
from learning.journal.standing import JUDGEMENT_STANDS, stands
from learning.protocol.records import Candidate, Correction, Pick, Rating, Turns
from learning.text.normalise import fold, fold_answer

HELD_OUT = 0.2
"""Share of the choices that are not trained on."""
MARGIN = 0.1
"""Share by which one long conversation may exceed what is still to be held out."""
TALKS = 10
"""With at least this many conversations they are held out whole; with fewer, single messages."""
MOST_OPTIONS = 9
READ_IN_ORDER = 0.15
"""Share of picks by which the first card may exceed chance before reading order is suspected."""


@dataclass(frozen=True)
class Choice:
    """One answer preferred over others to the same prompt."""

    prompt: Turns
    options: tuple[str, ...]
    """2 to 9 different texts, in the order in which they stood on the screen."""
    chosen: int
    """Index into `options`."""
    shown: bool
    """The chosen one stood on the screen; False: the owner typed it."""
    judgement: int
    """Id in the journal; that of a lesson without a judgement (`vidya teach --file`) is negative."""
    conversation: int


@dataclass(frozen=True)
class Opinion:
    """An answer that was rated good or bad."""

    prompt: Turns
    answer: str
    good: bool
    judgement: int
    conversation: int


@dataclass(frozen=True)
class Preferences:
    """Everything that the owner's taste can be learned from."""

    choices: tuple[Choice, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    alone: int = 0
    """Judgements that say nothing, because no other answer is kept."""

    @property
    def judgements(self) -> frozenset[int]:
        """Ids of all judgements used."""
        return frozenset(one.judgement for one in self.items)

    @property
    def items(self) -> list[Choice | Opinion]:
        """Choices, then opinions."""
        return [*self.choices, *self.opinions]

    @property
    def mark(self) -> str:
        """Changes if anything changes that is learned."""
        return hashlib.sha256(repr((self.choices, self.opinions)).encode()).hexdigest()[:16]

    @property
    def chance(self) -> float:
        """Share of choices that guessing foretells; 0 for none."""
        return chance(self.choices)

    @property
    def first(self) -> float:
        """Share of picks that fell on the answer that stood first; 0 for none."""
        picks = [one for one in self.choices if one.shown]
        return sum(one.chosen == 0 for one in picks) / len(picks) if picks else 0.0

    @property
    def read_in_order(self) -> bool:
        """Whether the first answer is picked so often that reading order would be learned as taste."""
        picks = [one for one in self.choices if one.shown]
        return bool(picks) and self.first > chance(picks) + READ_IN_ORDER


@dataclass(frozen=True)
class Split:
    """Preferences to learn from and to measure on. No message of one is in the other."""

    train: Preferences
    held_out: Preferences


def chance(choices: Sequence[Choice]) -> float:
    """Expected share of choices that guessing foretells, mean of 1/K; 0 for none."""
    return sum(1.0 / len(one.options) for one in choices) / len(choices) if choices else 0.0


def preferences(journal: Journal) -> Preferences:
    """All preferences that stand now, oldest first. Of several choices about one ask the newest counts, and
    of several ratings of one answer. Raises JournalError."""
    choices, opinions, alone = dict[int, Choice | None](), dict[Hashable, Opinion](), 0
    asks = dict[int, tuple[Turns, int]]()
    for judged in _standing(journal):
        judgement, number = judged.judgement, judged.judgement.ask
        if number not in asks:
            ask = journal.ask(number)
            asks[number] = ask.turns, ask.conversation
        prompt, talk = asks[number]
        if isinstance(judgement, Rating):
            key = number, fold_answer(judged.answer)
            opinions.pop(key, None)
            if judgement.value and judged.answer.strip():
                good = judgement.value == "good"
                opinions[key] = Opinion(prompt, judged.answer, good, judged.id, talk)
            continue
        choices.pop(number, None)
        choices[number] = _choice(journal, judged, prompt, talk)
    alone = sum(one is None for one in choices.values())
    files, rated = _from_files(journal)
    return Preferences(
        (*files, *(one for one in choices.values() if one)), (*rated, *opinions.values()), alone
    )


def standing(journal: Journal) -> frozenset[int]:
    """What `Preferences.judgements` has, and judgements that say nothing alone, by one quick query each."""
    judged = journal.rows(f"SELECT j.id FROM judgements j WHERE {JUDGEMENT_STANDS}")
    taught = journal.rows(f"SELECT id FROM lessons WHERE {_FROM_FILES}")
    return frozenset([*(row[0] for row in judged), *(-row[0] for row in taught)])


def split(found: Preferences, share: float = HELD_OUT) -> Split:
    """About `share` of the choices is held out: whole conversations where there are TALKS of them, otherwise
    single messages. A held-out choice whose message, or whose chosen answer to it, is trained on too is left
    out. The same preferences always give the same split."""
    talks = {one.conversation for one in found.choices}
    by_talk = len(talks) >= TALKS

    def unit(one: Choice | Opinion) -> str:
        return f"talk {one.conversation}" if by_talk else _message(one)

    units = dict[str, int]()
    for choice in found.choices:
        units[unit(choice)] = units.get(unit(choice), 0) + 1
    wanted, aside = share * len(found.choices), set[str]()
    for name in sorted(units, key=lambda name: (zlib.crc32(name.encode()), name)):
        if wanted >= 0.5 and units[name] <= wanted + MARGIN * len(found.choices):
            aside.add(name)
            wanted -= units[name]
    train = Preferences(
        tuple(one for one in found.choices if unit(one) not in aside),
        tuple(one for one in found.opinions if unit(one) not in aside),
    )
    seen = {_message(one) for one in train.items}
    held_out = Preferences(
        tuple(c for c in found.choices if unit(c) in aside and _message(c) not in seen),
        tuple(v for v in found.opinions if unit(v) in aside and _message(v) not in seen),
    )
    return Split(train, held_out)


def _message(one: Choice | Opinion) -> str:
    """The folded last message: the same question in another conversation is the same question."""
    return fold(one.prompt[-1].text) if one.prompt else ""


def _standing(journal: Journal) -> list[Judged]:
    rows = journal.rows(
        f"""SELECT j.id, j.ask, j.kind, j.number, j.text, j.value, j.reason, j.answer, j.created
        FROM judgements j WHERE {JUDGEMENT_STANDS} ORDER BY j.id"""
    )
    return [
        Judged(number, judgement_from_row(*parts), answer, created, True)
        for number, *parts, answer, created in rows
    ]


_FROM_FILES = f"judgement IS NULL AND kind IN ('pick', 'rating') AND {stands()}"


def _from_files(journal: Journal) -> tuple[list[Choice], list[Opinion]]:
    """Preferences that `vidya teach --file` or an import brought in as lessons; each is a conversation."""
    choices, opinions = list[Choice](), list[Opinion]()
    for row in journal.rows(
        f"SELECT {LESSON_COLUMNS} FROM lessons WHERE {_FROM_FILES} ORDER BY id"
    ):
        lesson = lesson_from_row(row)
        number, answer = -lesson.id, lesson.answer.strip()
        if lesson.kind == "rating":
            said = answer or next(iter(lesson.rejected), "")
            if said:
                opinions.append(Opinion(lesson.prompt, said, bool(answer), number, number))
            continue
        others = [text for text in lesson.rejected if fold_answer(text) != fold_answer(answer)]
        options = _distinct([answer, *others])[:MOST_OPTIONS]
        if answer and len(options) > 1:
            choices.append(Choice(lesson.prompt, tuple(options), 0, False, number, number))
    return choices, opinions


def _choice(journal: Journal, judged: Judged, prompt: Turns, talk: int) -> Choice | None:
    """None if nothing is left to compare the answer with. An offer that was not picked is left out: another
    question's answer does not say what pleases."""
    judgement, answer = judged.judgement, judged.answer.strip()
    assert isinstance(judgement, Pick | Correction)
    shown = [
        c
        for c in journal.candidates(judgement.ask)
        if c.ending != "cancelled"
        and not (c.offered and fold_answer(c.text) != fold_answer(answer))
    ]
    options = [c.text.strip() for c in sorted(shown, key=_place)]
    if isinstance(judgement, Correction):
        for lesson in journal.lessons_of(judged.id):
            options += [text.strip() for text in lesson.rejected if lesson.kind == "correction"]
    options = _distinct(options)
    mine = fold_answer(answer)
    if isinstance(judgement, Pick):
        options = [answer if fold_answer(text) == mine else text for text in options]
        others = [text for text in options if text != answer]
        if answer not in options:  # picked while the other texts were still being written
            options = [*others, answer]
    else:
        options = [*(text for text in options if fold_answer(text) != mine), answer]
    options = _most(options, answer)
    if not answer or len(options) < 2:
        return None
    picked = isinstance(judgement, Pick)
    return Choice(prompt, tuple(options), options.index(answer), picked, judged.id, talk)


def _place(candidate: Candidate) -> tuple[float, int]:
    """The order of the cards on the screen: by certainty, as the session sorts them."""
    return -(candidate.certainty or 0.0), candidate.index


def _distinct(texts: Iterable[str]) -> list[str]:
    """Without empty texts and those that count as the same answer."""
    return list({fold_answer(text): text for text in reversed(list(texts)) if text}.values())[::-1]


def _most(options: list[str], answer: str) -> list[str]:
    """At most MOST_OPTIONS of them, the answer among these."""
    if len(options) <= MOST_OPTIONS:
        return options
    kept = options[:MOST_OPTIONS]
    return kept if answer in kept else [*kept[:-1], answer]
