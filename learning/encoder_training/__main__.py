"""Trains the sentence encoder with which lessons are found.

python -m learning.encoder_training --teacher FOLDER --text FOLDER --out FOLDER

TEACHER is the folder of a sentence encoder such as all-MiniLM-L6-v2; vidya needs it here alone. Run the same
command again to go on after an interruption. Needs the packages transformers and rustbpe (`pip install
'.[bench]'`). docs/pretraining.md says more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from learning.command_line import described_parser, run_and_tell
from learning.encoder_training.run import train_encoder
from learning.encoder_training.settings import EncoderSettings


def parser() -> argparse.ArgumentParser:
    """The options. Defaults are those of the shipped encoder."""
    usual = EncoderSettings()
    made = described_parser("learning.encoder_training", __doc__)
    add = made.add_argument
    add("--teacher", type=Path, required=True, help="folder of the larger encoder")
    add("--text", type=Path, required=True, nargs="+", help="files or folders of the corpus")
    add("--out", type=Path, required=True, help="folder for the encoder and the log")
    add("--steps", type=int, default=usual.steps, help="(%(default)s)")
    add("--seed", type=int, default=usual.seed)
    add("--vocabulary", type=int, default=usual.vocabulary, help="tokens (%(default)s)")
    add("--blocks", type=int, default=usual.blocks, help="(%(default)s)")
    add("--sentences", type=int, default=usual.sentences, help="per step (%(default)s)")
    add("--lives", type=int, default=usual.lives, help="per step; 0: none (%(default)s)")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Entry point of the command line. Returns the exit status."""
    chosen = parser().parse_args(arguments)

    def work(say: Callable[[str], None]) -> None:
        settings = EncoderSettings(
            steps=chosen.steps,
            seed=chosen.seed,
            vocabulary=chosen.vocabulary,
            blocks=chosen.blocks,
            sentences=chosen.sentences,
            lives=chosen.lives,
        )
        train_encoder(chosen.teacher, chosen.text, chosen.out, settings, say)

    return run_and_tell(work)


if __name__ == "__main__":
    sys.exit(main())
