"""`vidya teach`, `vidya train` and `vidya evaluate`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from engine.errors import DataError, VidyaError
from learning.messages import Event, Learn, LessonDone, Train, TrainDone, TrainProgress
from learning.records import Lesson
from vidya_tui.cli_common import Desk, Options, common, desk, print_json, say


@click.command()
@click.option("--pick", type=int, help="Number of the candidate that was best.")
@click.option("--say", "text", help="What the answer should have been.")
@click.option("--rate", type=click.Choice(["good", "bad"]), help="How the answer was.")
@click.option("--ask", "ask_id", type=int, help="Number of the ask; the latest if left out.")
@click.option(
    "--file", "file", type=click.Path(path_type=Path), help="Lessons, a JSON object a line."
)
@click.option("--no-wait", is_flag=True, help="Only journal it; it is learned later.")
@common
def teach(
    pick: int | None,
    text: str | None,
    rate: str | None,
    ask_id: int | None,
    file: Path | None,
    no_wait: bool,
    options: Options,
) -> None:
    """Judges an ask, or teaches a file of lessons, and learns before it returns."""
    given = [value for value in (pick, text, rate, file) if value is not None]
    if len(given) != 1:
        raise click.UsageError("give one of --pick, --say, --rate or --file")
    if file is not None:
        lessons = _read(file)
        if no_wait:
            _journal_only(options, lessons)
            return
        with desk(options) as place:
            for lesson in lessons:
                _learn(place, lesson, options)
        return
    _judge(pick, text, rate, ask_id, no_wait, options)


def _read(file: Path) -> list[Lesson]:
    from learning.lesson_file import parse_rows, read_lessons, to_lessons

    if str(file) == "-":
        return to_lessons(
            parse_rows(sys.stdin.read().splitlines(), "standard input"), "standard input"
        )
    return read_lessons(file)


def _journal_only(options: Options, lessons: list[Lesson]) -> None:
    from learning.journal import Journal

    home = options.home
    with home.lock():
        journal = Journal(home.journal_path)
        try:
            journal.add_lessons(lessons)
        finally:
            journal.close()
    say(f"{len(lessons)} lessons wait; the next `vidya` learns them")


def _learn(place: Desk, lesson: Lesson, options: Options) -> None:
    """Journals one lesson and waits until it is learned."""
    from learning.owner_book import OwnerBook

    assert place.teacher is not None
    (kept,) = place.journal.add_lessons([lesson])
    if lesson.answer and len(lesson.prompt) == 1:
        OwnerBook(place.home.book_path).add(lesson.prompt[-1].text, lesson.answer)
    place.teacher.send(Learn())

    def show(event: Event) -> None:
        if isinstance(event, LessonDone):
            _print_lesson(event, options)

    while place.next(show, LessonDone).lesson != kept.id:
        pass


def _print_lesson(event: LessonDone, options: Options) -> None:
    if options.as_json:
        print_json({k: v for k, v in asdict(event).items() if k not in ("version", "state")})
        return
    words = {True: "learned", False: "needs practice"}[event.known_after]
    if event.rolled_back:
        words = "needs practice (rolled back, it would have cost too much of the book)"
    recall = f"book recall {event.book_recall:.1%}"
    click.echo(
        f"lesson {event.lesson}: {words} in {event.seconds:.1f} s, {event.steps} steps, {recall}"
    )


def _judge(
    pick: int | None,
    text: str | None,
    rate: str | None,
    ask_id: int | None,
    no_wait: bool,
    options: Options,
) -> None:
    """One judgement, through the same channels as in the app."""
    from learning.channels import learn_from_judgement
    from learning.owner_book import OwnerBook
    from learning.records import Correction, Pick, Rating

    with desk(options) as place:
        assert place.teacher is not None
        journal = place.journal
        ask = journal.ask(ask_id) if ask_id is not None else journal.latest_ask()
        if ask is None:
            raise VidyaError("nothing was asked yet", 'ask first: vidya ask "hello"')
        candidates = journal.candidates(ask.id)
        seen = journal.answer(ask.id) or (candidates[0].text if candidates else "")
        judgement: Pick | Correction | Rating
        if pick is not None:
            texts = {c.index: c.text for c in candidates if c.text}
            if pick not in texts:
                numbers = ", ".join(map(str, sorted(texts))) or "none"
                raise VidyaError(f"ask {ask.id} has no candidate {pick}", f"there are: {numbers}")
            judgement, seen = Pick(ask.id, pick), texts[pick]
        elif text is not None:
            if not text.strip():
                raise VidyaError("--say is empty", "give the answer that should be said")
            judgement = Correction(ask.id, text.strip())
        else:
            if not seen:
                raise VidyaError(
                    f"ask {ask.id} has no answer", "pick one first: vidya teach --pick 1"
                )
            judgement = Rating(ask.id, "good" if rate == "good" else "bad")
        lesson = learn_from_judgement(ask, judgement, seen, candidates)
        answer = text.strip() if text is not None else seen
        journal.judge(judgement, answer, [lesson] if lesson else [])
        if not isinstance(judgement, Rating) and ask.turns:
            try:
                OwnerBook(place.home.book_path).add(ask.turns[-1].text, answer)
            except (DataError, ValueError) as error:
                say(f"not written into the book: {error}")
        if no_wait:
            say("journaled; the next `vidya` learns it")
            return
        place.teacher.send(Learn())
        while journal.waiting():
            place.next(
                lambda e: _print_lesson(e, options) if isinstance(e, LessonDone) else None,
                LessonDone,
            )


@click.command()
@click.argument("book", required=False, type=click.Path(path_type=Path))
@click.option("--epochs", type=click.IntRange(1), help="Exactly so many; else until all is known.")
@common
def train(book: Path | None, epochs: int | None, options: Options) -> None:
    """Trains on BOOK, or on Vidya's book, yours and all your lessons."""
    if book is not None:
        _check_book(book)
    with desk(options) as place:
        assert place.teacher is not None
        place.teacher.send(Train(epochs, str(book) if book else None))
        done = place.next(lambda event: _print_epoch(event, options), TrainDone)
        if options.as_json:
            print_json({"event": "done", **asdict(done)})
        elif done.rolled_back:
            raise VidyaError(
                "the training was thrown away, it lost too much", "train with fewer epochs"
            )
        else:
            after = f"recall {done.recall_before:.1%} -> {done.recall_after:.1%}"
            click.echo(
                f"{done.entries} entries, {after}, loss {done.loss:.3f}, {done.seconds:.1f} s"
            )


def _check_book(path: Path) -> None:
    """Every bad line is told before anything is loaded."""
    from personality.book import BookError, read_book

    try:
        read_book(path)
    except BookError as error:
        raise DataError(str(error)) from error


def _print_epoch(event: Event, options: Options) -> None:
    if not isinstance(event, TrainProgress) or not event.epoch_ended:
        return
    fields = ("epoch", "step", "examples", "loss", "recall", "seconds")
    row: dict[str, Any] = {k: getattr(event, k) for k in fields}
    if options.as_json:
        print_json({"epoch": row["epoch"], "steps": row.pop("step"), **row})
    else:
        recall = "" if event.recall is None else f", recall {event.recall:.1%}"
        say(f"epoch {event.epoch}: loss {event.loss:.3f}{recall}, {event.seconds:.0f} s")


@click.command()
@click.option(
    "--book", type=click.Path(path_type=Path), help="A book; Vidya's own if nothing is given."
)
@click.option("--lessons", type=click.Path(path_type=Path), help="Lessons, a JSON object a line.")
@click.option("--text", type=click.Path(path_type=Path), help="Rows of text or turns.")
@common
def evaluate(book: Path | None, lessons: Path | None, text: Path | None, options: Options) -> None:
    """Measures what the model knows, without learning."""
    from learning.lesson_file import read_rows, to_lessons
    from personality.book import BookError, read_book, shipped_book_path

    try:
        wanted = book or (None if lessons or text else shipped_book_path())
        entries = read_book(wanted) if wanted else None
    except BookError as error:
        raise DataError(str(error)) from error
    lesson_rows = read_rows(lessons) if lessons else None
    if lesson_rows is not None:
        to_lessons(lesson_rows, str(lessons))
        lesson_rows = [row for row in lesson_rows if "prompt" in row]
    text_rows = read_rows(text) if text else None

    from engine.checkpoint import load_model
    from engine.tokenizer import Tokenizer
    from learning.evaluate import evaluate as measure
    from learning.model_store import ModelStore
    from learning.teacher import DEFAULT_MODEL

    folder = ModelStore(options.home).resolve(options.model or DEFAULT_MODEL)
    model = load_model(folder, device=options.device or "cpu")
    result = measure(
        model, Tokenizer.load(folder), book=entries, lessons=lesson_rows, text=text_rows
    )
    if options.as_json:
        print_json(result)
        return
    for part, numbers in result.items():
        shown = ", ".join(
            f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in numbers.items()
        )
        click.echo(f"{part}: {shown}")
