"""`vidya train`: trains on a book."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from engine.errors import CheckpointError, DataError, VidyaError
from learning.protocol.events import Event, TrainDone, TrainProgress
from learning.protocol.requests import Train
from vidya_tui.cli.common import common, local_teacher, print_json, say
from vidya_tui.cli.stdin import StoredFile
from vidya_tui.options import Options
from vidya_tui.state.learner import lines_known

RANK = 16
"""Of adapters; measured at 135M (engine/base/smollm2-135m/CARD.md)."""


@click.command()
@click.argument(
    "book",
    required=False,
    type=StoredFile(),
    help="A book. Default: Vidya's book, yours and all your lessons.",
)
@click.option(
    "--epochs", type=click.IntRange(1), help="Exact number. Default: until every line is known."
)
@click.option("--batch-size", type=click.IntRange(1), help="Lines per step.")
@click.option("--lora", is_flag=True, help="Train low-rank adapters and add them to the weights.")
@click.option(
    "--rank", type=click.IntRange(1, 512), help="Rank of the adapters. Default: 16. Needs --lora."
)
@click.option(
    "--blocks",
    type=click.IntRange(1),
    help="Number of upper blocks with adapters. Default: a third. Needs --lora.",
)
@click.option(
    "--adapter",
    type=click.Path(path_type=Path),
    help="Write the adapters to this new folder, in peft's format. Needs --lora.",
)
@click.option(
    "--own-talk",
    type=StoredFile(exists=True, dir_okay=False),
    help="Conversations in the model's own words, in the book's format, near which it stays; beside them "
    "it then learns everyday talk. Default: talk that the model makes up.",
)
@click.option("--skip-bad", is_flag=True, help="Skip lines with errors and learn the rest.")
@common
def train(
    book: Path | None,
    epochs: int | None,
    batch_size: int | None,
    lora: bool,
    rank: int | None,
    blocks: int | None,
    adapter: Path | None,
    own_talk: Path | None,
    skip_bad: bool,
    options: Options,
) -> None:
    """Trains on BOOK, or on Vidya's book, yours and all your lessons."""
    if not lora and (rank or blocks or adapter):
        raise click.UsageError("--rank, --blocks and --adapter are for adapters: add --lora")
    if adapter and adapter.exists() and (not adapter.is_dir() or any(adapter.iterdir())):
        raise CheckpointError(f"{adapter}: is not empty", "name a new folder")
    _check_book(book or options.home.book_path, skip_bad, required=book is not None)
    if own_talk:
        _check_book(own_talk, skip_bad=False, required=True)
    with local_teacher(options) as place:
        assert place.teacher is not None
        place.teacher.send(
            Train(
                epochs,
                str(book) if book else None,
                batch_size,
                skip_bad,
                (rank or RANK) if lora else None,
                blocks,
                str(adapter.expanduser().resolve()) if adapter else None,
                str(own_talk.expanduser().resolve()) if own_talk else None,
            )
        )
        done = place.next(_told(options), TrainDone)
        if options.as_json:
            print_json({"event": "done", **asdict(done)})
        if done.rolled_back:
            raise VidyaError(
                "the training was rolled back, because too much else was forgotten",
                "train with fewer epochs",
            )
        for place_of in done.left_out:
            say(f"{place_of}: too long for this model; left out")
        if book is not None and not _looked_after(book, options):
            say(
                "later lessons protect Vidya's book and yours, but not this one, so they may undo it; "
                f"to keep its lines, add them to your book: {options.home.book_path}"
            )
        if not options.as_json:
            before, after = done.recall_before or 0.0, done.recall_after or 0.0
            known = f"{done.known} of {done.entries} known, recall {before:.1%} -> {after:.1%}"
            click.echo(f"{known}, loss {done.loss:.3f}, {done.seconds:.1f} s")


def _check_book(path: Path, skip_bad: bool, *, required: bool) -> None:
    """Reports every bad line before the model is loaded. Raises DataError if training cannot go on."""
    from personality.book import BookError, read_book

    try:
        read_book(path)
    except BookError as error:
        whole = any(line == 0 for line, _, _ in error.problems)
        if whole and not required:
            return  # the owner's own book may still be empty
        if whole or not skip_bad:
            raise DataError(str(error)) from error
        for line, what, _ in error.problems:
            say(f"{path}:{line}: {what}; skipped")
        try:
            read_book(path, skip_bad=True)
        except BookError:
            raise DataError(f"{path}: no line of it is right", "mend those above") from error


def _looked_after(book: Path, options: Options) -> bool:
    """True if lessons replay this book: it is the shipped or the owner's."""
    from personality.book import shipped_book_path

    paths = (shipped_book_path(), options.home.book_path)
    return any(path.exists() and book.samefile(path) for path in paths)


def _told(options: Options) -> Callable[[Event], None]:
    """A function that prints each epoch, and first that every line is being measured."""
    told = False

    def show(event: Event) -> None:
        nonlocal told
        if not isinstance(event, TrainProgress):
            return
        if not told and not options.as_json:
            where = f"going on after epoch {event.epoch}; " if event.begun else ""
            say(f"{where}asking every line first")
        told = True
        if event.epoch_ended:
            _print_epoch(event, options)

    return show


def _print_epoch(event: TrainProgress, options: Options) -> None:
    fields = ("epoch", "step", "examples", "loss", "recall", "seconds")
    row: dict[str, Any] = {k: getattr(event, k) for k in fields}
    if options.as_json:
        print_json({"epoch": row["epoch"], "steps": row.pop("step"), **row})
        return
    lines = f"{'your book' if event.own else 'lines'}: {lines_known(event)}"
    kept = "" if event.kept is None else f", {event.kept:.1%} of all else"
    say(f"epoch {event.epoch}: {lines}{kept}, loss {event.loss:.3f}, {event.seconds:.0f} s")
