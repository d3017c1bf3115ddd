"""Writes conversations that a program composes as a JSON lines file.

    python -m learning.pretraining.synthetic_rows skills.jsonl --rows 30000 --seed 9
    python -m learning.pretraining.synthetic_rows talk.jsonl --kinds knowledge small_talk lives \\
        --leave-out benchmarks/data
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import reason
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.command_line import described_parser
from learning.models.store import SHIPPED
from learning.text import knowledge, small_talk
from learning.text.content import content_words
from learning.text.lives import lives
from learning.text.lives_talk import told_and_asked
from learning.text.normalise import fold
from learning.text.synthetic import Row, copying, recall, row_of, sums

KINDS = ("recall", "copying", "sums", "knowledge", "small_talk", "lives")
SKILLS = ("recall", "recall", "copying", "sums", "sums")
"""The kinds that are written where none are named; a kind that stands twice is drawn twice as often."""


def word_pieces(tokenizer: Tokenizer) -> list[str]:
    """The alphabetic tokens of a vocabulary, with their leading space if they have one, sorted."""
    texts = (tokenizer.decode([i]) for i in range(tokenizer.vocab_size))
    return sorted(
        text for text in texts if text.strip().isalpha() and text.strip(" ") == text.strip()
    )


class LeftOut:
    """Questions that must not be trained on, because they are measured: those of some files, and others with
    the same content words."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """paths: .jsonl files, or folders of them; all strings in them count. Raises OSError, ValueError."""
        files = [f for p in paths for f in (sorted(p.glob("*.jsonl")) if p.is_dir() else [p])]
        lines = (line for file in files for line in file.read_text("utf-8").splitlines() if line)
        texts = [text for line in lines for text in _strings(json.loads(line)) if " " in text]
        self._folded = {fold(text) for text in texts}
        self._content = {frozenset(content_words(text)) for text in texts} - {frozenset[str]()}

    def __call__(self, question: str) -> bool:
        return fold(question) in self._folded or frozenset(content_words(question)) in self._content


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def write_rows(
    path: Path,
    count: int,
    seed: int = 0,
    kinds: Sequence[str] = SKILLS,
    left_out: Callable[[str], bool] = lambda _: False,
) -> None:
    """Writes `count` JSON lines of the kinds, each as likely. left_out: questions that `knowledge` and
    `small_talk` must not have."""
    rng = random.Random(seed)
    pieces = word_pieces(load_tokenizer(SHIPPED / "10m"))
    makers: dict[str, Callable[[random.Random], Row]] = {
        "recall": recall,
        "copying": partial(copying, pieces=pieces),
        "sums": sums,
        "knowledge": partial(_knowledge, left_out=left_out),
        "small_talk": partial(_small_talk, left_out=left_out),
        "lives": _life,
    }
    with path.open("w", encoding="utf-8") as out:
        for _ in range(count):
            row = makers[rng.choice(kinds)](rng)
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _knowledge(rng: random.Random, left_out: Callable[[str], bool]) -> Row:
    turns, text = list[knowledge.Turn](), ""
    while not turns and not text:
        turns, text = knowledge.conversation(rng, left_out)
    if text:
        return {"text": text, "source": "knowledge"}
    return row_of("knowledge", turns, asked_weight=1)


def _small_talk(rng: random.Random, left_out: Callable[[str], bool]) -> Row:
    turns = list[knowledge.Turn]()
    while not turns:
        turns = small_talk.conversation(rng, left_out)
    return row_of("small_talk", turns, asked_weight=1)


def _life(rng: random.Random) -> Row:
    return row_of("lives", told_and_asked(lives(1, rng)[0], rng))


def main() -> None:
    """Entry point of the command line."""
    parser = described_parser("learning.pretraining.synthetic_rows", __doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=SKILLS, help="Each as likely. Default: skills."
    )
    parser.add_argument(
        "--leave-out",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help="Files or folders of .jsonl whose questions knowledge and small talk must not have.",
    )
    chosen = parser.parse_args()
    try:
        left_out = LeftOut(chosen.leave_out)
    except (OSError, ValueError) as error:
        parser.error(f"--leave-out: {reason(error)}; give .jsonl files, or folders of them")
    try:
        write_rows(chosen.file, chosen.rows, chosen.seed, chosen.kinds, left_out)
    except OSError as error:
        parser.error(f"{chosen.file}: {error.strerror}; give a file that can be written")


if __name__ == "__main__":
    main()
