"""`vidya teach`: judges an ask, or teaches the lessons of a file one after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Literal

import click

from engine.errors import DataError, VidyaError
from learning.book.lines import in_vidyas
from learning.book.owner_book import OwnerBook
from learning.journal.journal import Journal
from learning.protocol.events import Event, LessonDone
from learning.protocol.records import Ask, Lesson
from learning.protocol.requests import Request
from learning.text.blame import Part, from_words, last_sentence
from vidya_tui.cli.common import (
    LocalTeacher,
    common,
    learning_on,
    lessons_wait,
    local_teacher,
    print_json,
    say,
)
from vidya_tui.cli.stdin import read_file
from vidya_tui.options import Options
from vidya_tui.session import teaching
from vidya_tui.session.teaching import AskVerdict
from vidya_tui.state import learner as learner_state


@click.command()
@click.option("--pick", type=int, help="Number of the best candidate.")
@click.option("--say", "text", help="The answer that should have been given.")
@click.option("--rate", type=click.Choice(["good", "bad"]), help="A rating of the answer.")
@click.option("--reason", help="With --rate: why, in your words.")
@click.option("--end", is_flag=True, help="With --rate bad: the last sentence alone is bad.")
@click.option(
    "--from",
    "words",
    metavar="WORDS",
    help="With --rate bad: what begins with these words of the answer is bad, not what stands before.",
)
@click.option("--ask", "ask_id", type=int, help="Number of the ask. Default: the latest.")
@click.option(
    "--file",
    type=click.Path(),
    help="Lessons to teach, one JSON object per line; - is stdin.",
)
@click.option("--no-wait", is_flag=True, help="Only write to the journal; the next `vidya` learns.")
@common
def teach(
    pick: int | None,
    text: str | None,
    rate: Literal["good", "bad"] | None,
    reason: str | None,
    end: bool,
    words: str | None,
    ask_id: int | None,
    file: str | None,
    no_wait: bool,
    options: Options,
) -> None:
    """Judges an ask, or teaches a file of lessons; returns when the model has learned, or at once where
    learning is switched off in the settings."""
    _check_rating(rate, reason, end, words)
    given = sum(value is not None for value in (pick, text, rate, file))
    if given != 1:
        raise click.UsageError(
            f"give {'only ' if given else ''}one of --pick, --say, --rate or --file"
        )
    if file is not None and ask_id is not None:
        raise click.UsageError("--ask goes with --pick, --say or --rate")
    lessons = _read(file) if file is not None else []

    def show(event: Event) -> None:
        if isinstance(event, LessonDone):
            _print_lesson(event, options)

    no_wait = no_wait or not learning_on(options)
    with silent(options) if no_wait else local_teacher(options) as place:
        if file is None:
            _judge_ask(
                place, ask_id, AskVerdict(pick, text, rate, reason or "", _blamed(end, words))
            )
            place.learn(show)
        for lesson in lessons:
            _teach(place, lesson)
            place.learn(show)
        waiting = place.journal.waiting_count()
    if no_wait:
        if options.as_json:
            print_json(teaching.waiting_row(waiting))
        say(lessons_wait(waiting, options))


def _check_rating(rate: str | None, reason: str | None, end: bool, words: str | None) -> None:
    """Raises UsageError where what goes with a rating has none that fits."""
    if reason is not None and rate is None:
        raise click.UsageError(
            "--reason goes with --rate; `vidya ask --again REASON` asks for another answer"
        )
    if (end or words is not None) and (rate != "bad" or (end and words is not None)):
        raise click.UsageError("give one of --end and --from, with --rate bad")


def _blamed(end: bool, words: str | None) -> Part | None:
    """Finds the part of a bad answer that is to blame; None: all of it."""
    if words is not None:
        return partial(from_words, words=words)
    return last_sentence if end else None


class _Nobody:
    """A teacher that does nothing: `LocalTeacher.learn` learns what the session journals, or it waits."""

    def send(self, request: Request) -> None:
        pass

    def close(self) -> None:
        pass


@contextmanager
def silent(options: Options) -> Iterator[LocalTeacher]:
    """Like `local_teacher`, but without a model."""
    home = options.home
    with home.lock():
        journal = Journal(home.journal_path)
        try:
            yield LocalTeacher(home, journal)
        finally:
            journal.close()


def _read(file: str) -> list[Lesson]:
    from learning.data.lesson_file import ADVICE, parse_rows, to_lessons

    data, name = read_file(file, ADVICE)
    return to_lessons(parse_rows(data, name), name)


def _teach(place: LocalTeacher, lesson: Lesson) -> None:
    """Journals a lesson. As in the app, also writes a taught answer into the owner's book, in place of the
    earlier answer to the same question."""
    book, old = OwnerBook(place.home.book_path), None
    written = lesson.kind != "rating" and bool(lesson.answer) and len(lesson.prompt) == 1
    if written:
        with suppress(DataError):  # reported below, when the book is written
            old = book.answer_to(lesson.prompt[-1].text)
        written = old != " ".join(lesson.answer.split())
        if old is None and in_vidyas(lesson.prompt[-1].text, lesson.answer):
            written = False
    place.journal.add_lessons([replace(lesson, replaces=old) if written else lesson])
    if written:
        try:
            book.replace(lesson.prompt[-1].text, old, lesson.answer)
        except DataError as error:
            say(f"not written into the book: {error}")


def _print_lesson(event: LessonDone, options: Options) -> None:
    if options.as_json:
        print_json(teaching.lesson_row(event))
    else:
        click.echo(learner_state.lesson_line(event))


def _asked(place: LocalTeacher, number: int | None) -> Ask:
    """The ask with this number, or the latest. Raises VidyaError if there is none."""
    ask = place.journal.ask(number) if number is not None else place.journal.latest_ask()
    if ask is None:
        raise VidyaError("nothing was asked yet", 'ask first: vidya ask "hello"')
    return ask


def _judge_ask(place: LocalTeacher, number: int | None, verdict: AskVerdict) -> None:
    """Judges the ask with this number, or the latest. Raises VidyaError if there is none, or for an empty
    answer."""
    ask = _asked(place, number)
    if verdict.text is not None and not verdict.text.strip():
        raise VidyaError("--say is empty", "give the answer that should be said")
    if not judge(place, ask, verdict):
        say(f"ask {ask.id} was judged so already: there is nothing new to learn")


def judge(place: LocalTeacher, ask: Ask, verdict: AskVerdict) -> bool:
    """Judges an ask in the journal, so that `LocalTeacher.learn` learns it; False if that judgement stands
    already."""
    from vidya_tui.session.session import Session

    session = Session(place.journal, _Nobody(), book_path=place.home.book_path)
    return bool(teaching.judge(session, ask, verdict, say))
