"""What the command lines of trainings at build time share, such as `python -m learning.encoder_training`.

Left out: the commands of `vidya`, which are in vidya_tui.cli.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from engine.errors import VidyaError


def described_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """A parser whose help shows the description as it is written. module: which `python -m` runs."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run_and_tell(work: Callable[[Callable[[str], None]], object]) -> int:
    """Does the work, which gets a function that prints a line at once. Returns the exit status: 1 after a
    VidyaError, which is printed to standard error."""
    try:
        work(lambda line: print(line, flush=True))
    except VidyaError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
