"""`vidya reward`: trains, shows and uses the model of the owner's taste."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.errors import DataError
from learning.protocol.records import DisputedAnswers
from vidya_tui.cli.common import (
    common,
    input_line,
    lessons_wait,
    open_journal,
    print_json,
    say,
    show,
)
from vidya_tui.cli.help import Group
from vidya_tui.cli.stdin import read_file
from vidya_tui.cli.teach import judge, silent
from vidya_tui.options import Options
from vidya_tui.session.disputed import journal_disputed
from vidya_tui.session.teaching import AskVerdict
from vidya_tui.state import taste
from vidya_tui.text.numbers import counted, percent
from vidya_tui.text.sanitise import one_line

if TYPE_CHECKING:
    from learning.rewards.reward_report import TasteReport

DRAWN = 4
ASKED = 10
ADVICE = 'give lines like {"prompt": "hello", "answers": ["Hi.", "Hello!"]}, or plain messages'


@click.group("reward", cls=Group)
def reward_group() -> None:
    """Trains, shows and uses the model of your taste, which is learned from your picks."""


def _folder(options: Options) -> Path:
    from learning.models.store import ModelStore

    return ModelStore(options.home).resolve(options.chosen_model)


@reward_group.command()
@click.option(
    "--export",
    "target",
    type=click.Path(path_type=Path),
    help="Also write it to this folder, as a sequence classifier of transformers.",
)
@common
def train(target: Path | None, options: Options) -> None:
    """Trains it now on all picks, corrections and ratings. The app does the same in pauses.

    It needs 30 picks, and is used only if it foretells held-out picks better than chance.
    """
    from engine.storage.checkpoint import load_model
    from engine.storage.weight_files import current_version
    from engine.tokenizers.load import load_tokenizer
    from learning.rewards.reward_keeper import RewardKeeper
    from learning.rewards.reward_model import export, load

    folder = _folder(options)
    told = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told > 2.0:
            told = time.monotonic()
            say(f"{done} of {counted(total, 'judgement')}")

    with options.home.lock(), options.home.learning(), open_journal(options) as journal:
        tokenizer, model = load_tokenizer(folder), load_model(folder)
        keeper = RewardKeeper(folder, lambda: (current_version(folder), model), tokenizer, journal)
        report = keeper.train(tell)
        if target is not None:
            export(load(folder), tokenizer, target)
            say(f"written to {target}")
    _print(report, options)


def _print(report: TasteReport, options: Options) -> None:
    if options.as_json:
        print_json(
            {
                **_figures(report),
                "why_not": report.why_not,
                "no_more_than_length": report.no_more_than_length,
            }
        )
        return
    words = (
        f"trained on {report.trained_on} picks in {report.seconds:.0f} s: foretells "
        f"{percent(report.picks_right)} of {counted(report.held_out, 'held-out pick')} (guessing "
        f"{percent(report.chance)}) and {percent(report.pairs_right)} of pairs"
    )
    show(words)
    if report.no_more_than_length:
        show(taste.length_warning(report))
    show(f"it is not used: {report.why_not}" if report.why_not else "it is used")


def _figures(report: TasteReport) -> dict[str, Any]:
    row = asdict(report)
    for name in ("unknown", "judgements", "mark", "best", "least", "looks"):
        del row[name]
    return row


@reward_group.command("show")
@common
def show_taste(options: Options) -> None:
    """Shows how well it foretells your picks, what it looks for, and how it likes the last answers."""
    with open_journal(options) as journal:
        view = taste.read_taste(_folder(options), journal)
    if options.as_json:
        print_json(
            {
                "picks": len(view.found.choices),
                "ratings": len(view.found.opinions),
                "unusable": view.found.alone,
                "new": view.new,
                "used": not view.why_not,
                "why_not": view.why_not,
                **({"report": _figures(view.report)} if view.report else {}),
                "looks_for": [asdict(one) for one in (view.report.looks if view.report else ())],
                "best": [_row(*one) for one in view.best],
                "least": [_row(*one) for one in view.least],
            }
        )
        return
    for heading, lines in taste.sections(view):
        show(heading)
        for line in lines:
            show(f"  {line}")


def _row(score: float, message: str, answer: str) -> dict[str, Any]:
    return {"score": score, "prompt": message, "answer": answer}


@reward_group.command()
@click.option(
    "--prompts",
    type=click.Path(),
    required=True,
    help='A file: JSON lines with "prompt" and "answer" or "answers", or a plain message a line; - is stdin.',
)
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 64),
    default=DRAWN,
    show_default=True,
    help="Answers that the model draws to a message without any.",
)
@common
def rate(prompts: str, count: int, options: Options) -> None:
    """Rates answers as you would. To messages without answers the model draws some first.

    A score of 1 is one standard deviation better than the answers that you were shown.
    """
    from engine.tokenizers.load import load_tokenizer
    from learning.rewards.reward_keeper import usable
    from learning.rewards.reward_rating import draw, rated

    rows = _read(prompts)
    folder = _folder(options)
    with open_journal(options) as journal:
        model, report = usable(folder, journal)
    tokenizer = load_tokenizer(folder)
    missing = [prompt for prompt, answers in rows if not answers]
    if missing:
        say(f"drawing {counted(count * len(missing), 'answer')}")
        drawn = iter(draw(folder, tokenizer, missing, count, seed=options.seed or 0))
        rows = [(prompt, answers or next(drawn)) for prompt, answers in rows]
    started, done = time.monotonic(), 0
    for one in rated(model, report, tokenizer, folder, rows):
        done += 1
        if options.as_json:
            print_json(asdict(one))
        else:
            show(f"{one.score:+.2f}  {one_line(one.prompt)} \u2192 {one_line(one.answer)}")
    if done:
        took = max(1e-6, time.monotonic() - started)
        say(f"{counted(done, 'answer')} rated, {60 * done / took:,.0f} a minute")


@reward_group.command("ask")
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 50),
    default=ASKED,
    show_default=True,
    help="Messages that you are asked about.",
)
@common
def ask_owner(count: int, options: Options) -> None:
    """Asks you to pick where it is most unsure what you like, as after an alarm of `vidya practice taste`.

    The number of an answer picks it, Enter goes on to the next message, q ends. Each pick counts as in the
    app: the next `vidya` learns it, and the taste is trained again. With --json it prints the messages and
    asks nothing; they are then in the journal, and `vidya teach --ask N --pick K` picks.
    """
    from learning.practice.disputed import most_disputed

    folder = _folder(options)
    say("answering messages and comparing the heads of your taste")
    with silent(options) as place:
        found = most_disputed(folder, place.journal, count, seed=options.seed or 0)
        picked = 0
        for place_, one in enumerate(found, 1):
            if options.as_json:
                number = journal_disputed(place.journal, one)
                print_json({"ask": number, **_disputed_row(one)})
                continue
            show(f"{place_} of {len(found)}: {one_line(one.message)}")
            for number, text in enumerate(one.answers, 1):
                show(f"  {number}  {one_line(text)}")
            answer = _answered(len(one.answers))
            if answer is None:
                break
            if answer:
                number = journal_disputed(place.journal, one)
                judge(place, place.journal.ask(number), AskVerdict(pick=answer))
                picked += 1
        waiting = place.journal.waiting_count()
    if not options.as_json:
        say(
            f"{counted(picked, 'pick')}; {lessons_wait(waiting, options)}"
            if picked
            else "nothing was picked"
        )


def _answered(count: int) -> int | None:
    """The number of an answer; 0: the next message; None: the end."""
    while True:
        said = input_line(f"  1 to {count}, Enter: next, q: end > ")
        if said is None or said.casefold() == "q":
            return None
        if not said:
            return 0
        if said.isdecimal() and 1 <= int(said) <= count:
            return int(said)


def _disputed_row(one: DisputedAnswers) -> dict[str, Any]:
    return {
        "prompt": one.message,
        "answers": list(one.answers),
        "disagreement": one.disagreement,
    }


def _read(path: str) -> list[tuple[str, list[str]]]:
    """(message, answers) of each line. Raises DataError with file and line."""
    from learning.data.json_lines import parse

    data, name = read_file(path, ADVICE)
    if not data.lstrip().startswith(b"{"):
        lines = data.decode("utf-8", "replace").splitlines()
        return _some([(line.strip(), list[str]()) for line in lines if line.strip()], name)
    found = list[tuple[str, list[str]]]()
    for number, row in parse(data, name, ADVICE):
        prompt = row.get("prompt")
        answers = row.get("answers", [row["answer"]] if "answer" in row else [])
        if not _text(prompt) or not isinstance(answers, list) or not all(map(_text, answers)):
            raise DataError(f"{name}:{number}: has no prompt, or answers that are no text", ADVICE)
        found.append((str(prompt), answers))
    return _some(found, name)


def _some(rows: Sequence[tuple[str, list[str]]], name: str) -> list[tuple[str, list[str]]]:
    if not rows:
        raise DataError(f"{name}: there is nothing in it to rate", ADVICE)
    return list(rows)


def _text(found: object) -> bool:
    return isinstance(found, str) and bool(found.strip())
