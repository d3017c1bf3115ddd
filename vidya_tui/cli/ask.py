"""`vidya ask`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from engine.errors import VidyaError
from learning.models.plain_text import ADVICE
from learning.models.store import ModelStore
from learning.protocol.events import (
    AskDone,
    CandidateDone,
    Event,
    MakingVectors,
    MessageCut,
    Ready,
)
from learning.protocol.records import Ask, Turn
from learning.protocol.requests import Generate
from vidya_tui.cli import answers
from vidya_tui.cli.common import LocalTeacher, common, lessons_wait, local_teacher, print_json, say
from vidya_tui.cli.stdin import message
from vidya_tui.cli.taste.best import best_by_taste
from vidya_tui.options import Options
from vidya_tui.settings.file import Settings
from vidya_tui.state import learner as learner_state

if TYPE_CHECKING:  # the session is imported when it is needed
    from vidya_tui.session.session import Session


@click.command()
@click.argument(
    "prompt",
    required=False,
    help="The message, in quotes. Piped text is added to it; `-` means the piped text alone.",
)
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 9),
    default=5,
    show_default=True,
    help="Number of answers; 1 is plain chat.",
)
@click.option(
    "--best-of",
    type=click.IntRange(2, 64),
    metavar="N",
    help="Draw N answers and print the one that you would like best (see `vidya reward`).",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 10),
    help="How random the answers are; at 0 the first takes the likeliest token each time.",
)
@click.option(
    "--top-p",
    type=click.FloatRange(0, 1, min_open=True),
    help="Sample only from the likeliest tokens that together have this probability.",
)
@click.option("--max-tokens", type=click.IntRange(1, 4096), help="Longest answer, in tokens.")
@click.option(
    "--recall/--no-recall",
    default=None,
    help="Whether a lesson may help to answer, if PROMPT asks for it in other words. Default: the setting.",
)
@click.option(
    "--again",
    metavar="REASON",
    help='Ask the latest message again, so that the answer is otherwise: "shorter please".',
)
@click.option(
    "--raw", is_flag=True, help="Continue PROMPT as plain text; nothing goes into the journal."
)
@common
def ask(
    prompt: str | None,
    count: int,
    best_of: int | None,
    temperature: float | None,
    top_p: float | None,
    max_tokens: int | None,
    recall: bool | None,
    again: str | None,
    raw: bool,
    options: Options,
) -> None:
    """Answers PROMPT, together with any piped text, with several candidates."""
    from vidya_tui.controller.preferences import prepare
    from vidya_tui.session.session import Session

    _check_usage(prompt, best_of, again, raw)
    text = message(prompt) if again is None else ""
    drawn = ModelStore(options.home).generation(options.chosen_model).sampling
    settings = _chosen(options.settings, temperature, top_p, max_tokens)
    with local_teacher(options, patient=True) as place:
        assert place.teacher is not None
        if raw:
            sampling = settings.sampling_of(drawn)
            request = Generate(0, (Turn("user", text),), count, sampling, options.seed, raw=True)
            _go_on(place, request, options)
            return
        folder = ModelStore(options.home).resolve(options.chosen_model)
        best = best_by_taste(folder, place.journal) if best_of else None
        session = Session(place.journal, place.teacher, seed=options.seed)
        # taste would rank offers, too
        offers = settings.offers and best is None and recall is not False
        prepare(session, replace(settings, candidates=count, offers=offers), drawn)
        session.candidates = best_of or count
        if recall is not None:
            session.recall = recall
        asked = session.say(text) if again is None else _again(session, again)
        done = _answered(place, session, options)
        surest = session.cards[0].index if session.cards and session.cards[0].said else None
        liked = best(asked.turns, session.cards) if best else None
        if options.as_json:
            _print_done(done, ask=asked.id, surest=surest, best=liked.index if liked else None)
        elif liked is not None:
            answers.print_one(None, liked.said)
            if liked.origin:
                say(liked.origin)
            say(f"{liked.index} of {best_of}: vidya teach --ask {asked.id} --pick K judges them")
        else:
            answers.print_all(session.cards, asked.id)
            if waiting := place.journal.waiting_count():
                say(lessons_wait(waiting, options))
            if count > 1 and surest is not None:
                click.echo(f"surest: {surest}")


def _check_usage(prompt: str | None, best_of: int | None, again: str | None, raw: bool) -> None:
    """Raises UsageError for what does not go together."""
    if again is not None and (prompt is not None or raw):
        raise click.UsageError("--again asks the latest message: give no other, and not --raw")
    if again is not None and not again.strip():
        raise click.UsageError('--again needs a reason: --again "shorter please"')
    if raw and best_of:
        raise click.UsageError("--best-of goes without --raw: a continued text has no taste")


def _chosen(
    settings: Settings, temperature: float | None, top_p: float | None, max_tokens: int | None
) -> Settings:
    """The settings with those of the command line. Raises UsageError for NaN."""
    for name, value in (("--temperature", temperature), ("--top-p", top_p)):
        if value is not None and math.isnan(value):
            raise click.UsageError(f"{name} is NaN: give a number")
    return replace(
        settings,
        temperature=settings.temperature if temperature is None else temperature,
        top_p=settings.top_p if top_p is None else top_p,
        max_tokens=max_tokens or settings.max_tokens,
    )


def _answered(place: LocalTeacher, session: Session, options: Options) -> AskDone:
    """Waits until all answers have ended; shows them meanwhile, or prints each as a row of JSON."""
    with answers.while_written(options.as_json) as show:

        def heard(event: Event) -> None:
            session.handle(event)
            if isinstance(event, MessageCut):
                say(learner_state.cut(event))
            if isinstance(event, MakingVectors):
                say(learner_state.making_vectors(event))
            if isinstance(event, Ready) and event.continues_only:
                say(f"{event.model} was trained on plain text only: {ADVICE}")
            if isinstance(event, CandidateDone) and options.as_json:
                answers.as_row(event)
            show(session.cards)

        return place.next(heard, AskDone)


def _again(session: Session, reason: str) -> Ask:
    """Asks the latest message again for a reason. Raises VidyaError if there is none with an answer."""
    latest = session.journal.latest_ask()
    if latest is None:
        raise VidyaError("nothing was asked yet", 'ask first: vidya ask "hello"')
    session.reopen(latest)
    return session.regenerate(reason)


def _go_on(place: LocalTeacher, request: Generate, options: Options) -> None:
    """Continues a text without a journal entry."""
    assert place.teacher is not None
    place.teacher.send(request)

    def heard(event: Event) -> None:
        if isinstance(event, CandidateDone) and options.as_json:
            answers.as_row(event)
        elif isinstance(event, CandidateDone):
            number = event.candidate.index if request.n > 1 else None
            answers.print_one(number, event.candidate.text)

    done = place.next(heard, AskDone)
    if options.as_json:
        _print_done(done, ask=None, surest=None)


def _print_done(
    done: AskDone, *, ask: int | None, surest: int | None, best: int | None = None
) -> None:
    print_json(
        {
            "event": "done",
            "ask": ask,
            "surest": surest,
            **({} if best is None else {"best": best}),
            "tokens_per_second": done.tokens_per_second,
            "seconds_to_first_token": done.seconds_to_first_token,
        }
    )
