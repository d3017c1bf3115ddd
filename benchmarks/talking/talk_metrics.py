"""Metrics of answers that need no judge: pure functions of texts, no torch.

Words are those of `talk_data.fold`: lower case, no punctuation, "don't" is "dont". Such counts find clear
faults; they do not show that an answer is good. Left out: similarity of meaning, fluency.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.talking.talk_data import Question, fold
from benchmarks.talking.talk_words import (
    HOW_MANY,
    HUMAN_CLAIMS,
    NAME,
    NO_IDEA,
    NUMBERS,
    STATE,
    TENS,
    WHEN,
    WHERE,
    WHO,
    WHY,
    YES_NO,
)
from learning.text.flaws import ends_sentence

Grams = list[tuple[str, ...]]


def distinct(answers: Iterable[str], n: int) -> float:
    """Distinct-n: number of different n-grams of words divided by all n-grams of all answers, 0 to 1 (arXiv
    1510.03055).

    Falls with the amount of text, so compare only equally many answers. 0 if there is no n-gram.
    """
    counted = Counter(gram for answer in answers for gram in _grams(fold(answer), n))
    return len(counted) / max(1, counted.total())


def repetition(answer: str, n: int = 4) -> float:
    """Share of an answer's n-grams that repeat earlier ones, 0 to 1 (seq-rep-n of arXiv 1908.04319).

    0 if the answer has fewer than n words.
    """
    found = _grams(fold(answer), n)
    return 1.0 - len(set(found)) / len(found) if found else 0.0


def ends_properly(answer: str, ending: str) -> bool:
    """True if the model ended the answer itself (`ending` "end") and its last sentence is complete."""
    return ending == "end" and ends_sentence(answer)


def overlap(answer: str, prompt: str) -> float:
    """Longest run of words shared with the prompt, divided by the number of words in the answer; 0 to 1.

    Runs of fewer than three words count as 0.
    """
    said, asked = fold(answer), fold(prompt)
    best, before = 0, [0] * (len(asked) + 1)
    for word in said:
        row = [0] * (len(asked) + 1)
        for j, other in enumerate(asked):
            row[j + 1] = before[j] + 1 if word == other else 0
        best, before = max(best, *row), row
    return best / len(said) if best >= 3 else 0.0


def parrots(answer: str, prompt: str) -> bool:
    """True if at least 60 % of the answer is one run of words from the prompt (`overlap` >= 0.6)."""
    return overlap(answer, prompt) >= 0.6


def said_twice(answers: Sequence[str]) -> float:
    """Share of answers that equal the answer to another question word for word; 0 to 1."""
    counted = Counter(fold(answer) for answer in answers)
    return sum(n for n in counted.values() if n > 1) / max(1, len(answers))


def share_of(flags: Iterable[bool]) -> float | None:
    """Share of true flags, 0 to 1; None if there are none."""
    found = list(flags)
    return sum(found) / len(found) if found else None


# Numbers and facts


def numbers(text: str) -> list[int]:
    """Whole numbers in the text, in order: digits ("1,000" is 1000) and words up to ninety-nine.

    Limits: "one" is a number even in "one of them"; hundreds in words, fractions and signs are not
    read: "-3" is 3, "2.5" is 2 and 5.
    """
    found: list[int] = []
    tens = False
    for word in fold(re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)):
        if word in TENS:
            found.append(NUMBERS[word])
        elif word in NUMBERS:
            if tens and 0 < NUMBERS[word] < 10:
                found[-1] += NUMBERS[word]
            else:
                found.append(NUMBERS[word])
        elif word.isascii() and word.isdigit():
            found.append(int(word))
        tens = word in TENS
    return found


def exact(answer: str, truth: Sequence[str]) -> bool:
    """True if the whole answer is an accepted one, after folding and without articles (as in arXiv
    1606.05250)."""
    return _bare(answer) in {_bare(accepted) for accepted in truth}


def says(answer: str, truth: Sequence[str]) -> bool:
    """True if the answer contains an accepted one.

    Numbers: the last number of the answer is right ("7 plus 5 is 12", not "12 or 13"). "yes" and "no": the
    answer begins with it. Others: it occurs as whole words anywhere, so "It is not in Paris" counts as
    Paris.
    """
    words = fold(answer)
    right = {int(accepted) for accepted in truth if accepted.isdigit()}
    if right:
        return numbers(answer)[-1:] in [[number] for number in right]
    for accepted in map(fold, truth):
        if accepted in (("yes",), ("no",)):
            if words[:1] == accepted:
                return True
        elif accepted in _grams(words, len(accepted)):
            return True
    return False


def _bare(text: str) -> tuple[str, ...]:
    return tuple(word for word in fold(text) if word not in ("a", "an", "the"))


def _grams(words: Sequence[str], n: int) -> Grams:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


# Does the answer fit the question?


def fits(answer: str, question: Question) -> bool | None:
    """True if the answer is of the kind that the question's type asks for; None for statements.

    "I do not know" fits every type. yes_no: opens with yes, no, how often, "it is", "I do" or "I
    think". how_many: a number or an amount. where: a preposition of place. when: a word of time. who:
    a person, a pronoun, or a capital inside a sentence. why: because, to, a purpose. how_are_you: a
    word for a state. choice: one of the options, both or neither. what: is not empty, does not open
    as an answer to yes/no, and not all of it is questions.

    Limits: the rules look at words, not meaning: "in fact" passes as a place, "I have two dogs" as a yes,
    "you are late" as a who; a bare noun fails as the answer to where. The share is therefore an upper bound
    of fitting answers, for comparing models only.
    """
    words = fold(answer)
    text = " ".join(words)
    kind = question.type
    if kind == "statement":
        return None
    if not words:
        return False
    if admits(answer):
        return True
    if kind == "choice":
        allowed = {option.casefold() for option in question.options}
        return bool(allowed.union(("both", "neither", "either")).intersection(words))
    if kind == "what":
        told = re.search(r"[^.!?\s][.!…]|[^.!?\s]\s*$", answer) is not None
        return told and not re.match(r"(yes|yeah|yep|no|nope|nah|sure|of course)\b", text)
    if kind == "how_many":
        return bool(numbers(answer) or HOW_MANY.search(text))
    if kind == "who":
        return bool(WHO.search(text) or NAME.search(answer))
    if kind == "yes_no":
        return YES_NO.match(text) is not None
    rule = {"where": WHERE, "when": WHEN, "why": WHY, "how_are_you": STATE}[kind]
    return rule.search(text) is not None


def admits(answer: str) -> bool:
    """True if the answer says that it does not know: "I do not know that yet. Will you teach me?" """
    return NO_IDEA.search(" ".join(fold(answer))) is not None


# Does she claim to be a person?


def human_claims(answer: str) -> tuple[str, ...]:
    """Kinds of human identity that the answer claims, sorted, each once; empty if none.

    Limits: negations ("I never went to school") and a narrator's words count too, so stories are left out
    of the share; claims in other words are missed.
    """
    text = answer.replace("’", "'")
    return tuple(sorted({kind for kind, pattern in HUMAN_CLAIMS if pattern.search(text)}))
