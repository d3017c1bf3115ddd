"""`vidya ask`."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from engine.errors import VidyaError
from learning.events import AskDone, CandidateDone, CandidateReset, CandidateText, Event
from vidya_tui.cli_common import common, desk, print_json
from vidya_tui.options import Options
from vidya_tui.plain import plain as harmless
from vidya_tui.settings import load


@click.command()
@click.argument("prompt", help="The message, in quotes; `-` reads it from standard input.")
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 9),
    default=5,
    show_default=True,
    help="How many answers; 1 is plain chat.",
)
@click.option("--temperature", type=click.FloatRange(0, 10), help="0 is the likeliest answer.")
@click.option(
    "--top-p",
    type=click.FloatRange(0, 1, min_open=True),
    help="Draw only from the likeliest tokens that together have this probability.",
)
@click.option("--max-tokens", type=click.IntRange(1, 4096), help="Longest answer, in tokens.")
@common
def ask(
    prompt: str,
    count: int,
    temperature: float | None,
    top_p: float | None,
    max_tokens: int | None,
    options: Options,
) -> None:
    """Answers PROMPT with several candidates; `-` reads it from standard input."""
    from vidya_tui.preferences import prepare
    from vidya_tui.session import Session

    if prompt == "-":
        prompt = sys.stdin.buffer.read().decode("utf-8-sig", "replace")
    if not prompt.strip():
        raise VidyaError("the message is empty", 'give a text: vidya ask "hello"')
    settings = load(options.home.settings_path)
    sampling = settings.sampling.with_(temperature=temperature, top_p=top_p, max_tokens=max_tokens)
    with desk(options) as place:
        assert place.teacher is not None
        session = Session(place.journal, place.teacher, seed=options.seed)
        prepare(session, replace(settings, candidates=count))
        session.sampling = sampling
        asked = session.say(prompt)

        def show(event: Event) -> None:
            session.handle(event)
            if isinstance(event, CandidateDone):
                if options.as_json:
                    print_json(
                        {
                            "index": event.index,
                            "text": event.text,
                            "tokens": len(event.tokens),
                            "logprob": sum(event.logprobs),
                        }
                    )
                elif count > 1:
                    click.echo(f"{event.index}. {harmless(event.text)}")
                else:
                    click.echo()
            elif count == 1 and not options.as_json and isinstance(event, CandidateText):
                click.echo(harmless(event.delta), nl=False)
            elif count == 1 and not options.as_json and isinstance(event, CandidateReset):
                click.echo()

        done = place.next(show, AskDone)
        if options.as_json:
            print_json(
                {
                    "event": "done",
                    "ask": asked.id,
                    "tokens_per_second": done.tokens_per_second,
                    "seconds_to_first_token": done.seconds_to_first_token,
                }
            )
