"""`vidya evaluate`: measures what a model knows, without learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine.errors import DataError
from vidya_tui.cli.common import common, print_json
from vidya_tui.cli.stdin import StoredFile, read_file
from vidya_tui.options import Options


@click.command()
@click.option(
    "--book",
    type=StoredFile(),
    help="A book to test. Default if nothing is given: Vidya's own book.",
)
@click.option(
    "--lessons",
    type=click.Path(),
    help="Lessons to test, one JSON object per line; by their keys too, if they have any. - is stdin.",
)
@click.option(
    "--text",
    type=click.Path(),
    help="JSON lines of texts or turns, for the loss; - is stdin.",
)
@common
def evaluate(book: Path | None, lessons: str | None, text: str | None, options: Options) -> None:
    """Measures what the model knows, without learning.

    Answers are greedy and free-running, by the weights alone. Exact: the answer is the taught one; case,
    white space and spaces before punctuation do not count. By key: it holds every word or alternative of
    the lesson's "key" and none of its "not".
    """
    if lessons == text == "-":
        raise click.UsageError("--lessons and --text cannot both be standard input")
    from learning.data.lesson_file import ADVICE, check_measured, parse_rows, to_lessons
    from personality.book import BookError, read_book, shipped_book_path

    try:
        wanted = book or (shipped_book_path() if lessons is None and text is None else None)
        entries = read_book(wanted) if wanted else None
    except BookError as error:
        raise DataError(str(error)) from error
    lesson_rows = None
    if lessons is not None:
        data, name = read_file(lessons, ADVICE)
        lesson_rows = parse_rows(data, name)
        to_lessons(lesson_rows, name)
        check_measured(lesson_rows, name)
    text_rows = _text_rows(text) if text is not None else None

    from engine.storage.checkpoint import load_model
    from engine.tokenizers.load import load_tokenizer
    from learning.evaluate import evaluate as measure
    from learning.models.store import ModelStore

    folder = ModelStore(options.home).resolve(options.chosen_model)
    model = load_model(folder, device=options.chosen_device)
    result = measure(
        model, load_tokenizer(folder), book=entries, lessons=lesson_rows, text=text_rows
    )
    if options.as_json:
        print_json(result)
        return
    for part, numbers in result.items():
        click.echo(f"{part}: {_shown(numbers) or 'there is nothing to measure in it'}")
        for kind, found in (numbers.get("by_key") or {}).items():
            if found is not None:
                click.echo(f"{part}, {kind} by key: {_shown(found)}")


def _shown(numbers: dict[str, Any]) -> str:
    """Figures in words; None and what is told on lines of its own are left out."""
    return ", ".join(
        f"{name.replace('_', ' ')} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in numbers.items()
        if value is not None and not isinstance(value, dict)
    )


def _text_rows(name: str) -> list[dict[str, Any]]:
    """Reads rows of {"text"} or {"turns"}. Raises DataError with file and line."""
    from learning.data.lesson_file import ADVICE, parse_rows

    forms = 'give {"text": ...} or {"turns": [{"role", "text"}, ...]}'
    data, name = read_file(name, ADVICE)
    rows = parse_rows(data, name, forms)
    for row in rows:
        turns = row.get("turns")
        if turns is None:
            good = isinstance(row.get("text"), str) and row["text"] != ""
        else:
            good = (
                isinstance(turns, list)
                and any(map(_is_answer, turns))
                and all(map(_is_turn, turns))
            )
        if not good:
            raise DataError(
                f"{name}:{row['_line']}: neither a text nor turns with an answer", forms
            )
    return rows


def _is_turn(turn: Any) -> bool:
    if not isinstance(turn, dict) or turn.get("role") not in ("user", "assistant"):
        return False
    return isinstance(turn.get("text"), str)


def _is_answer(turn: Any) -> bool:
    return _is_turn(turn) and turn["role"] == "assistant" and turn["text"] != ""
