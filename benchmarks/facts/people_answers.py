"""Asks a model and judges what it says about the facts of bench people.

Always greedy and free-running: the model goes on from its own words, never from the right ones. By key: the
answer has the fact's key words and none of those that it must not have (learning.text.key). Exact: it is the
taught answer, compared after `fold_answer`. Left out: who teaches (people_arms.py) and when (people.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from benchmarks.facts.people_data import PersonFact
from benchmarks.talking.talk_metrics import admits
from engine.config import GREEDY
from engine.model import Model
from engine.rollout import Rollout
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.tokenizer import Tokenizer
from learning.evaluate import greedy_answer
from learning.text.key import holds
from learning.text.normalise import fold_answer

Turns = Sequence[tuple[str, str]]
Asking = Callable[[str], Turns]
"""A question -> the conversation in which it is asked."""
Right = Callable[[str], bool]
"""An answer -> whether it is right."""
Shares = dict[str, float | None]


def alone(question: str) -> Turns:
    """Weights alone: nothing stands before the question."""
    return [("user", question)]


class Asker:
    """Greedy answers of one model."""

    def __init__(self, model: Model, tokenizer: Tokenizer, asking: Asking = alone) -> None:
        self._model, self._tokenizer, self._asking = model, tokenizer, asking

    def one(self, turns: Turns) -> str:
        """The app's own greedy decoding. What stands beside it in a batch cannot change a letter."""
        return greedy_answer(self._model, self._tokenizer, turns).strip()

    def ask_alone(self, questions: Sequence[str]) -> list[str]:
        """`one` for each, to compare answers to the letter."""
        return [self.one(self._asking(question)) for question in questions]

    def ask(self, questions: Sequence[str]) -> list[str]:
        """The answers to all questions, in batches."""
        asked = [self._asking(question) for question in questions]
        size = self._model.config.vocab_size
        found = Rollout(
            self._model,
            [self._ids(turns) for turns in asked],
            1,
            ends=self._tokenizer.not_text(size),
            never=self._tokenizer.unsaid(size),
            max_tokens=GREEDY.max_tokens,
            temperature=0.0,
            generator=torch.Generator(),
        ).answers()
        return [
            # the app never draws an answer that ends at once
            self._text(answer.tokens) or self.one(turns)
            for turns, (answer,) in zip(asked, found, strict=True)
        ]

    def _text(self, tokens: Sequence[int]) -> str:
        return self._tokenizer.decode(tokens).strip()

    def _ids(self, turns: Turns) -> list[int]:
        return encode_prompt(self._tokenizer, turns, self._model.config.context, GREEDY.max_tokens)


def same_text(answer: str, taught: str) -> bool:
    """Whether the answer is the taught one, as `vidya evaluate` compares them."""
    return fold_answer(answer) == fold_answer(taught)


def share(flags: Sequence[bool]) -> float | None:
    """Share of the true ones; None if there is nothing to count."""
    return sum(flags) / len(flags) if flags else None


def unchanged(asker: Asker, before: dict[str, str]) -> float | None:
    """Share of the answers that are the same to the letter."""
    questions = list(before)
    now = asker.ask_alone(questions)
    return share([before[question] == text for question, text in zip(questions, now, strict=True)])


def judge_facts(asker: Asker, facts: Sequence[PersonFact], knew: Sequence[bool]) -> Shares:
    """All shares of facts that were taught.

    knew: for each fact whether it was known by key right after its lesson; empty before any. "retained": of
    those, known now.
    "yes_no": both of a pair are right. "unknown": answers that admit that nothing was said about it.
    "refused": answers to the taught question, in any words, that say they do not know.
    "neighbours_leaked", "unknown_told": questions about somebody else, and on the same subject, that get the
    fact all the same.
    """
    asked: list[tuple[str, str, Right, str | None]] = []
    for fact in facts:
        asked.append(("taught", fact.prompt, fact.right, fact.answer))
        asked += [("rewordings", text, fact.right, fact.answer) for text in fact.rewordings]
        asked += [("paraphrases", text, fact.right, fact.answer) for text in fact.paraphrases]
        asked.append(("hop", fact.hop.prompt, fact.hop.right, None))
        asked += [("yes_no", one.prompt, one.right, None) for one in (fact.yes, fact.no)]
        asked.append(("unknown", fact.unknown, admits, None))
        asked.append(("unknown_told", fact.unknown, fact.right, None))
        asked.append(("neighbours_leaked", fact.neighbour, fact.right, None))
    questions = list(dict.fromkeys(question for _, question, _, _ in asked))
    said = dict(zip(questions, asker.ask(questions), strict=True))
    found: dict[str, list[bool]] = {}
    for kind, question, right, answer in asked:
        text = said[question]
        found.setdefault(kind, []).append(right(text))
        if answer is not None:
            found.setdefault(f"{kind}_exact", []).append(same_text(text, answer))
            found.setdefault("refused", []).append(admits(text))
    answers = found.pop("yes_no", [])
    pairs = [yes and no for yes, no in zip(answers[::2], answers[1::2], strict=True)]
    retained = [now for now, then in zip(found.get("taught", []), knew, strict=False) if then]
    return {
        **{kind: share(flags) for kind, flags in found.items()},
        "yes_no": share(pairs),
        "retained": share(retained),
    }


def judge_later(asker: Asker, facts: Sequence[PersonFact]) -> Shares:
    """Of facts that were contradicted: whether the new answer is given, to the taught words and to others,
    and whether nothing of the old one is said any more."""
    changed = [(fact, fact.later) for fact in facts if fact.later is not None]
    said = asker.ask([later.prompt for _, later in changed])
    pairs = [(text, later) for fact, later in changed for text in fact.rewordings]
    again = asker.ask([text for text, _ in pairs])
    return {
        "later": share([new.right(t) for t, (_, new) in zip(said, changed, strict=True)]),
        "later_rewordings": share([new.right(t) for t, (_, new) in zip(again, pairs, strict=True)]),
        "old_gone": share(
            [not holds(t, old.key) for t, (old, _) in zip(said, changed, strict=True)]
        ),
    }
