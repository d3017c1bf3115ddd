"""Trains the sentence encoder with which lessons are found.

python -m learning.encoder_training --teacher FOLDER --text FOLDER --out FOLDER

TEACHER is the folder of a sentence encoder such as all-MiniLM-L6-v2; vidya needs it here alone. Run the same
command again to go on after an interruption. With --begin and --owners a trained encoder learns further from
what people told (benchmarks/data/owners.jsonl), as the shipped one did. Needs the packages transformers and
rustbpe (`pip install '.[bench]'`). docs/pretraining.md says more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from learning.command_line import described_parser, run_and_tell
from learning.encoder_training.run import train_encoder
from learning.encoder_training.settings import FURTHER, EncoderSettings


def parser() -> argparse.ArgumentParser:
    """The options. Defaults are those with which the shipped encoder was trained, first and further."""
    usual, further = EncoderSettings(), FURTHER
    made = described_parser("learning.encoder_training", __doc__)
    add = made.add_argument
    add("--teacher", type=Path, required=True, help="folder of the larger encoder")
    add("--text", type=Path, required=True, nargs="+", help="files or folders of the corpus")
    add("--out", type=Path, required=True, help="folder for the encoder and the log")
    add("--begin", type=Path, help="folder of an encoder that is trained further")
    add("--owners", type=Path, help="file of what people told, with questions")
    for name, what in (("steps", ""), ("sentences", "per step "), ("lives", "per step; 0: none ")):
        first, then = getattr(usual, name), getattr(further, name)
        add(f"--{name}", type=int, help=f"{what}({first}; with --begin {then})")
    add("--seed", type=int, default=usual.seed)
    add(
        "--vocabulary",
        type=int,
        default=usual.vocabulary,
        help="tokens of a new encoder (%(default)s)",
    )
    add("--blocks", type=int, default=usual.blocks, help="of a new encoder (%(default)s)")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Entry point of the command line. Returns the exit status."""
    chosen = parser().parse_args(arguments)

    def work(say: Callable[[str], None]) -> None:
        usual = EncoderSettings() if chosen.begin is None else FURTHER
        given = {name: getattr(chosen, name) for name in ("steps", "sentences", "lives")}
        settings = replace(
            usual,
            seed=chosen.seed,
            vocabulary=chosen.vocabulary,
            blocks=chosen.blocks,
            **{name: value for name, value in given.items() if value is not None},
        )
        train_encoder(
            chosen.teacher,
            chosen.text,
            chosen.out,
            settings,
            say,
            begin=chosen.begin,
            owners=chosen.owners,
        )

    return run_and_tell(work)


if __name__ == "__main__":
    sys.exit(main())
