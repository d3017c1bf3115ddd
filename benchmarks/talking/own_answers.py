"""Writes a base's own short answers to everyday messages, for `vidya train --own-talk`.

    python -m benchmarks.talking.own_answers MODEL OUT [--openings N] [--rows FILE.jsonl]

MODEL is a name or a folder. Asked are everyday messages of which half resemble a line of the book and are not
it, N openings made of patterns, and the first messages of FILE, as learning.pretraining.synthetic_rows
writes it. Each is answered DRAWS times. Of every answer the first sentence or two are kept; what is a list,
claims to be a person, repeats itself or is no answer of the kind that was asked for is dropped; the one that
agrees most with the others stays. OUT is in the book's format. Left out: whether an answer is true.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import DATA
from benchmarks.talking.talk_data import Question
from benchmarks.talking.talk_metrics import fits, human_claims
from engine.errors import VidyaError, reason
from learning.distillation.filters import agreement, fault
from learning.home import Home
from learning.models.store import ModelStore
from learning.pretraining.synthetic_rows import LeftOut
from learning.text.flaws import ends_sentence
from learning.text.normalise import fold
from learning.text.openings import expanded, openings
from personality.book import everyday_path, read_book, shipped_book_path

if TYPE_CHECKING:
    from engine.model import Model
    from engine.tokenizers.tokenizer import Tokenizer

NEAR = DATA / "openings_near.txt"
"""Everyday messages, half of which resemble a line of the book and are not it."""
OTHERS = 150
"""Of the openings that are made of patterns."""
DRAWS, TEMPERATURE, TOKENS, ROWS = 3, 0.5, 36, 32
LONGEST, SECOND = 26, 12
"""Words of an answer; a second sentence follows a first of at most SECOND words."""
LEAST = 0.2
"""Agreement with the other draws, 0 to 1 (learning.distillation.filters)."""

_YES_NO = re.compile(
    r"(is|are|was|were|am|do|does|did|can|could|should|would|will|have|has|had|may|shall)\b", re.I
)
_KINDS = {"who": "who", "where": "where", "when": "when", "why": "why"}
_MACHINE = re.compile(
    r"\bas an? (ai|language|small|digital|assistant|virtual)|smollm|hugging|openai", re.I
)
_STRANGE = re.compile(r"^\d+[.)]|[*#|<>\[\]{}_]|\n|: *$|\be\.g\b")
_ABOUT_HER = re.compile(r"\b(you|your|vidya|hello|hi|hey|howdy|good (morning|evening|day))\b", re.I)
_OWN_LIFE = re.compile(
    r"(I'm|I am|I've|I have|I|My)\b(?! (sorry|so sorry|glad|so glad|happy|here|not sure|hope|am sorry|"
    r"am glad|think|would|can|could|don't|do not|understand|suggest|recommend|wish)\b)"
)


def messages(others: int = OTHERS, rows: Path | None = None) -> list[str]:
    """The messages to ask: the everyday ones, `others` openings, and the first message of each of the rows.
    Leaves out the questions of the book and of everyday talk, which the training teaches, those that a
    benchmark asks, and those with the same content words as a benchmark's."""
    near = expanded(NEAR.read_text("utf-8"))
    plain = [one for one in openings() if len(one) < 60]
    lines = rows.read_text("utf-8").splitlines() if rows else []
    written = [row["turns"][0]["text"] for row in map(json.loads, lines) if "turns" in row]
    measured, paths = LeftOut([DATA]), (shipped_book_path(), everyday_path())
    taught = {fold(entry.question) for path in paths for entry in read_book(path)}
    asked = dict.fromkeys([*near, *plain[:others], *written])
    allowed = (message for message in asked if fold(message) not in taught)
    return [message for message in allowed if not measured(message)]


def kind_of(message: str) -> Question:
    """The message as a question of the benchmark's kind, by its first words."""
    low = message.casefold().strip()
    first = low.split()[0] if low.split() else ""
    kind, options = "statement", tuple[str, ...]()
    if choice := re.search(r"(\w+) or (?:a |an |the |to |in )*(\w+)", low):
        kind, options = "choice", (choice[1], choice[2])
    elif re.match(r"(how (many|much|long|far|old|fast|tall|cold|big|deep|hot)\b)", low):
        kind = "how_many"
    elif low.startswith(("how are you", "how is it going")):
        kind = "how_are_you"
    elif first in _KINDS:
        kind = _KINDS[first]
    elif first in ("what", "which", "how"):
        kind = "what"
    elif _YES_NO.match(low) and (message.endswith("?") or len(low.split()) > 2):
        kind = "yes_no"
    return Question("own", "small_talk", kind, (("user", message),), (), options)


def short(answer: str) -> str:
    """The first sentence, or two if they are short; empty if the first is too long or unfinished."""
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z\"'])", answer.split("\n")[0].strip())
    kept = ""
    for sentence in sentences[:2]:
        longer = f"{kept} {sentence}".strip()
        if not ends_sentence(sentence) or len(longer.split()) > LONGEST:
            break
        kept = longer
        if len(kept.split()) > SECOND:
            break
    return kept


def good(answer: str, message: str) -> bool:
    """Whether the answer is one that Vidya may give."""
    question = kind_of(message)
    if not answer or fault(answer, message, ended=True) or human_claims(answer):
        return False
    if _MACHINE.search(answer) or _STRANGE.search(answer) or answer.count('"') % 2:
        return False
    if question.type == "statement" and _OWN_LIFE.match(answer) and not _ABOUT_HER.search(message):
        return False
    if "Vidya" in answer and not _ABOUT_HER.search(message):
        return False
    return fits(answer, question) is not False


def best(message: str, drawn: Sequence[str]) -> str:
    """The good answer that agrees most with all that were drawn; empty if there is none."""
    cut = [short(answer) for answer in drawn]
    agreed = agreement(cut)
    places = [place for place, answer in enumerate(cut) if good(answer, message)]
    if not places:
        return ""
    place = max(places, key=lambda at: agreed[at])
    return cut[place] if agreed[place] >= LEAST else ""


def draw(
    model: Model, tokenizer: Tokenizer, asked: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Each message with the answers drawn for it."""
    import torch

    from engine.rollout import message_answers

    for start in range(0, len(asked), ROWS):
        batch = asked[start : start + ROWS]
        found = message_answers(
            model,
            tokenizer,
            batch,
            DRAWS,
            max_tokens=TOKENS,
            temperature=TEMPERATURE,
            generator=torch.Generator().manual_seed(start),
        )
        for message, answers in zip(batch, found, strict=True):
            yield message, [text for text, _ in answers]


def main() -> None:
    """Entry point of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.talking.own_answers")
    parser.add_argument("model", help="Name of a model in the home, or a model's folder.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--openings", type=int, default=OTHERS)
    parser.add_argument("--rows", type=Path)
    chosen = parser.parse_args()
    try:
        folder = ModelStore(Home()).info(chosen.model).path
        asked = messages(chosen.openings, chosen.rows)
    except VidyaError as error:
        parser.error(str(error))
    except (OSError, ValueError, LookupError, TypeError) as error:
        parser.error(f"--rows: {reason(error)}; give a file that synthetic_rows wrote")
    try:
        write(folder, chosen.out, asked)
    except OSError as error:
        parser.error(f"{chosen.out}: {reason(error)}; give a file that can be written")


def write(folder: Path, out: Path, asked: list[str]) -> None:
    """Draws, filters and writes."""
    from engine.precision import fast_dtype
    from engine.storage.checkpoint import load_model
    from engine.tokenizers.load import load_tokenizer

    model = load_model(folder, dtype=fast_dtype("cpu")).requires_grad_(False).eval()
    random.Random(0).shuffle(asked)
    with out.open("w", encoding="utf-8") as file:
        for message, answers in draw(model, load_tokenizer(folder), asked):
            if answer := best(message, answers):
                file.write(f"<|user|> {message} <|assistant|> {answer}\n")


if __name__ == "__main__":
    main()
