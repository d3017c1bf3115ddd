"""Fits how likely a message asks for something (learning.text.questions.likely_asked).

    python -m benchmarks.facts.asking_weighing --text FOLDER

Asked is what the owners of the tuning half of owners.jsonl ask. Not asked is what they tell, with its
clauses; what is told of invented lives; and what people say without a question mark in the dialogues of the
corpus, unless grammar shows that it asks. Judged by five-fold cross-validation, no owner in two folds; the
weights that are written are fitted to all. At the end the unseen half is judged.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.facts.owners import OWNERS
from benchmarks.facts.recall_weighing import FOLDS
from learning.data.corpus import data_files, read_documents
from learning.encoder_training.owners import ASKED, read_owners
from learning.text.kinds.told import asks_by_its_words
from learning.text.lives import lives
from learning.text.mention import clauses
from learning.text.questions.asking import QUESTION_WORDS
from learning.text.questions.likely_asked import (
    BUCKETS,
    asks_by_its_look,
    features,
    likely_asked,
    save_weights,
)

TOLD, LIFE, REMARK = "told", "told of a life", "remark of a talk"
LIVES = 400
MOST_OF_SOURCE = 4_000
LONGEST = 16
"""Words of a remark."""
WEIGHTS_OF_KINDS = {"careless": 3.0, TOLD: 3.0}
"""How much a message of a kind counts; else 1."""
LIKE_A_QUESTION = 4.0
"""How much a remark counts that begins like a question: "What a day", "How cool"."""
PASSES, BATCH, RATE, DECAY = 8, 512, 5e-3, 0.1


@dataclass(frozen=True)
class Message:
    """Something that was written."""

    text: str
    kind: str
    fold: int

    @property
    def asks(self) -> bool:
        """Whether it asks for something."""
        return self.kind not in (TOLD, LIFE, REMARK)

    @property
    def weight(self) -> float:
        """How much it counts."""
        if self.kind == REMARK and self.text.lower().split()[0] in QUESTION_WORDS:
            return LIKE_A_QUESTION
        return WEIGHTS_OF_KINDS.get(self.kind, 1.0)


def messages(text: Sequence[Path], half: str = "tune") -> list[Message]:
    """What owners of the half ask and tell. With `text` also what is told of invented lives, and remarks of
    its dialogues. Raises DataError."""
    found = list[Message]()
    for number, owner in enumerate(read_owners(OWNERS, half)):
        for fact in owner:
            found += [Message(one, TOLD, number % FOLDS) for one in _parts(fact.said)]
            for kind, asked in zip(ASKED, fact.asked, strict=True):
                found.append(Message(asked, kind, number % FOLDS))
    if text:
        rng = random.Random(0)
        found += [Message(one, LIFE, rng.randrange(FOLDS)) for one in _of_lives(rng)]
        found += [Message(one, REMARK, rng.randrange(FOLDS)) for one in remarks(text)]
    return found


def _parts(said: str) -> list[str]:
    """A statement and its clauses."""
    return list(dict.fromkeys([said, *clauses(said)]))


def _of_lives(rng: random.Random) -> list[str]:
    """Different statements about LIVES invented lives."""
    facts = (fact for life in lives(LIVES, rng) for fact in life.facts)
    return sorted({said for fact in facts for said in fact.statements})


def remarks(text: Sequence[Path]) -> Iterator[str]:
    """Different short turns of dialogues without a question, at most MOST_OF_SOURCE of a source."""
    counts, seen = Counter[str](), set[str]()
    for file in data_files(text):
        for document in read_documents(file):
            for role, said in document.turns if not document.held_out else ():
                short = role == "user" and "?" not in said and 0 < len(said.split()) <= LONGEST
                if short and said not in seen and counts[document.source] < MOST_OF_SOURCE:
                    seen.add(said)
                    counts[document.source] += 1
                    if not asks_by_its_words(said.rstrip("!. ")):
                        yield said


def fitted(found: Sequence[Message]) -> tuple[float, Tensor]:
    """(bias, weights [BUCKETS]): logistic regression with weight decay."""
    torch.manual_seed(0)
    table = nn.EmbeddingBag(BUCKETS, 1, mode="sum")
    nn.init.zeros_(table.weight)
    bias = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.AdamW([table.weight, bias], lr=RATE, weight_decay=DECAY)
    rows = [torch.tensor(sorted(features(one.text))) for one in found]
    labels = torch.tensor([float(one.asks) for one in found])
    weights = torch.tensor([one.weight for one in found])
    for _ in range(PASSES):
        for batch in torch.randperm(len(rows)).split(BATCH):
            own = [rows[at] for at in batch.tolist()]
            begins = torch.tensor([0, *accumulate(len(row) for row in own[:-1])])
            z = table(torch.cat(own), begins).squeeze(-1) + bias
            each = F.binary_cross_entropy_with_logits(z, labels[batch], reduction="none")
            optimizer.zero_grad()
            (each * weights[batch]).mean().backward()
            optimizer.step()
    return bias.item(), table.weight.detach().squeeze(-1)


def likely(one: Message, bias: float, weights: Tensor) -> float:
    """As `likely_asked`, with weights that are not written yet."""
    return torch.sigmoid(weights[sorted(features(one.text))].sum() + bias).item()


def report(
    found: Sequence[Message], judged: Callable[[Message], float], say: Callable[[str], None]
) -> None:
    """The share of the messages of each kind that are taken for questions by grammar, and by the rule of the
    app (`asks_or_names`), with the likelihoods that `judged` gives. Marks at their ends are left out."""
    say("taken for a question, per cent: kind | by grammar | by the rule")
    for kind in dict.fromkeys(one.kind for one in found):
        own = [replace(one, text=one.text.rstrip("?!. ")) for one in found if one.kind == kind]
        grammar = [asks_by_its_words(one.text) for one in own]
        rule = [
            words or asks_by_its_look(one.text, judged(one))
            for words, one in zip(grammar, own, strict=True)
        ]
        say(f"{kind} | {100 * fmean(grammar):.1f} | {100 * fmean(rule):.1f}")


def main(words: Sequence[str] | None = None) -> None:
    """Entry point of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts.asking_weighing")
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="corpus")
    chosen = parser.parse_args(words)
    found = messages(chosen.text)
    ways = [fitted([one for one in found if one.fold != fold]) for fold in range(FOLDS)]
    report(found, lambda one: likely(one, *ways[one.fold]), print)
    bias, weights = fitted(found)
    save_weights(bias, weights.tolist())
    print("the unseen half:")
    report(messages([], "unseen"), lambda one: likely_asked(one.text), print)


if __name__ == "__main__":
    main()
