"""Writes synthetic conversations (learning.text.synthetic) as a JSON lines file.

python -m learning.pretraining.synthetic_rows skills.jsonl --rows 30000 --seed 9
"""

from __future__ import annotations

import argparse
import json
import random
from functools import partial
from pathlib import Path

from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.models.store import SHIPPED
from learning.text.synthetic import copying, recall, sums


def word_pieces(tokenizer: Tokenizer) -> list[str]:
    """The alphabetic tokens of a vocabulary, with their leading space if they have one, sorted."""
    texts = (tokenizer.decode([i]) for i in range(tokenizer.vocab_size))
    return sorted(
        text for text in texts if text.strip().isalpha() and text.strip(" ") == text.strip()
    )


def write_rows(path: Path, count: int, seed: int = 0) -> None:
    """Writes `count` JSON lines: of five rows on average two recall, one copying, two short sums."""
    rng = random.Random(seed)
    pieces = word_pieces(load_tokenizer(SHIPPED / "10m"))
    kinds = (recall, recall, partial(copying, pieces=pieces), sums, sums)
    with path.open("w", encoding="utf-8") as out:
        for _ in range(count):
            out.write(json.dumps(rng.choice(kinds)(rng), ensure_ascii=False) + "\n")


def main() -> None:
    """Entry point of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m learning.pretraining.synthetic_rows", description=__doc__
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    try:
        write_rows(chosen.file, chosen.rows, chosen.seed)
    except OSError as error:
        parser.error(f"{chosen.file}: {error.strerror}; give a file that can be written")


if __name__ == "__main__":
    main()
