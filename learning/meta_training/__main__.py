"""Trains an adapter through lessons about invented lives, so that a model learns to be taught.

python -m learning.meta_training --base FOLDER --out FOLDER --seconds 530

Nine minutes on a GPU suffice for a model of 135M weights. docs/pretraining.md says more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from learning.command_line import described_parser, run_and_tell
from learning.meta_training.run import device_of, meta_train, read_base
from learning.meta_training.settings import MetaSettings
from learning.models.snapshots import SHIPPED

ADAPTER = SHIPPED / "smollm2-135m"
"""The adapter to begin with, of the model that vidya offers."""


def parser() -> argparse.ArgumentParser:
    """The options. Defaults are those of the run in benchmarks/results/base.md."""
    usual = MetaSettings()
    made = described_parser("learning.meta_training", __doc__)
    add = made.add_argument
    add("--base", type=Path, required=True, help="folder of the model, without an adapter")
    add("--out", type=Path, required=True, help="new folder for the adapter and the log")
    add("--seconds", type=float, default=usual.seconds, help="of the whole run (%(default)s)")
    add("--steps", type=int, default=usual.steps, help="most steps; 0: as time allows")
    add("--device", choices=("cuda", "cpu"), default="cuda")
    begin = made.add_mutually_exclusive_group()
    begin.add_argument(
        "--adapter", type=Path, default=ADAPTER, help="adapter to begin with (smollm2-135m's)"
    )
    begin.add_argument("--new", action="store_true", help="begin with a new adapter")
    add("--seed", type=int, default=usual.seed)
    add("--lr", type=float, default=usual.lr, help="highest learning rate (%(default)s)")
    add("--clip", type=float, default=usual.clip, help="most norm of the gradient (%(default)s)")
    add("--lessons-per-step", type=int, default=usual.lessons, help="(%(default)s)")
    add("--workers", type=int, default=usual.workers, help="processes that make rows (%(default)s)")
    add("--facts", type=int, default=usual.facts, help="facts that are measured (%(default)s)")
    add("--lessons", type=Path, help="JSON lines of lessons to measure too")
    add(
        "--conversations",
        type=Path,
        action="append",
        default=[],
        help="file or folder of people's conversations, whose words are held; may be given again",
    )
    add("--small", action="store_true", help="small steps, for a trial on a CPU")
    add("--skip-first", action="store_true", help="do not measure before the first step")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Entry point of the command line. Returns the exit status."""
    chosen = parser().parse_args(arguments)

    def work(say: Callable[[str], None]) -> None:
        settings = MetaSettings(
            seconds=chosen.seconds,
            steps=chosen.steps,
            seed=chosen.seed,
            lr=chosen.lr,
            clip=chosen.clip,
            lessons=chosen.lessons_per_step,
            workers=chosen.workers,
            facts=chosen.facts,
            small=chosen.small,
            measure_first=not chosen.skip_first,
            conversations=tuple(path.expanduser() for path in chosen.conversations),
            questions=chosen.lessons,
        )
        device = device_of(chosen.device)
        base = read_base(chosen.base.expanduser(), None if chosen.new else chosen.adapter)
        meta_train(base, chosen.out.expanduser(), settings, device, say)

    return run_and_tell(work)


if __name__ == "__main__":
    sys.exit(main())
