"""`vidya practice`: verifiable tasks, practised alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from engine.errors import NotFound, VidyaError
from learning.protocol.events import (
    Event,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
)
from learning.protocol.requests import CancelPractice, Practise
from vidya_tui.cli import complete
from vidya_tui.cli.common import LocalTeacher, common, desk, print_json, say
from vidya_tui.options import Options
from vidya_tui.state import practice as practice_state


@click.command()
@click.argument(
    "task",
    required=False,
    shell_complete=complete.tasks,
    help="What to practise; --list names the tasks.",
)
@click.option("--list", "listing", is_flag=True, help="Which tasks there are.")
@click.option("--report", is_flag=True, help="What was practised in the last day, and gained.")
@click.option("--steps", type=click.IntRange(0), help="So many; 0 only measures, or warms up.")
@click.option("--group-size", type=click.IntRange(2), help="Answers to each problem.")
@click.option(
    "--data", type=click.Path(path_type=Path), help="Problems of the task, file or folder."
)
@click.option(
    "--warm-up/--no-warm-up",
    default=None,
    help="Begin with worked examples; else only where it cannot do the task at all.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="How hard: --set max_terms=3."
)
@common
def practice(
    task: str | None,
    listing: bool,
    report: bool,
    steps: int | None,
    group_size: int | None,
    data: Path | None,
    warm_up: bool | None,
    settings: tuple[str, ...],
    options: Options,
) -> None:
    """Practises TASK alone: answers are drawn, a program checks them, what was right becomes likelier.

    A task that it cannot do at all yet is warmed up first. Ctrl+C ends it after the step; what was gained
    so far is kept. A second one drops the step.
    """
    if listing:
        _list(options)
        return
    if report:
        _report(options)
        return
    if task is None:
        raise click.UsageError("name a task; --list shows which there are")
    _check(task)
    with desk(options) as place:
        assert place.teacher is not None
        path = str(data.expanduser().resolve()) if data else None
        place.teacher.send(Practise(task, steps, group_size, path, warm_up, settings, options.seed))
        done, stopped = _until_done(place, options)
        if options.as_json:
            print_json({"event": "done", **asdict(done)})
        else:
            click.echo(practice_state.done(done))
        if stopped:
            raise KeyboardInterrupt
        if done.ended in ("rolled_back", "too_hard"):
            next_step = practice_state.advice(done, f"vidya practice {task} --warm-up")
            raise VidyaError(f"{task}: {done.why}", next_step)


def _until_done(place: LocalTeacher, options: Options) -> tuple[PracticeDone, bool]:
    """The end, and whether the owner wanted it."""

    def told(event: Event) -> None:
        _print(event, options)

    try:
        return place.next(told, PracticeDone), False
    except KeyboardInterrupt:
        say("ending after this step; ctrl+c again drops it")
        assert place.teacher is not None
        place.teacher.send(CancelPractice())
        return place.next(told, PracticeDone), True


def _print(event: Event, options: Options) -> None:
    if isinstance(event, PracticeStage):
        if event.alarm:
            say(f"alarm: {event.alarm}")
        if options.as_json:
            print_json(
                {"event": "look" if event.stage != "warm_up" else "warm_up", **asdict(event)}
            )
        elif words := practice_state.staged(event):
            say(words)
    elif isinstance(event, PracticeSample):
        if options.as_json:
            print_json({"event": "sample", **asdict(event)})
        else:
            say(practice_state.sampled(event))
    elif isinstance(event, PracticeStep):
        if options.as_json:
            row: dict[str, Any] = asdict(event)
            print_json(row)
        else:
            say(practice_state.stepped(event))


def _check(task: str) -> None:
    """A task that does not exist is told before the model is loaded. Raises NotFound."""
    from learning.rewards.registry import find_task, tasks

    if task not in tasks():
        find_task(task)
        raise NotFound(f"task {task!r} does not exist", "vidya practice --list names them")


def _list(options: Options) -> None:
    from learning.rewards.registry import tasks

    for name, line in sorted(tasks().items()):
        if options.as_json:
            print_json({"name": name, "what": line})
        else:
            click.echo(f"{name:22s} {line}")


def _report(options: Options) -> None:
    from learning.journal.journal import Journal
    from learning.practice.report import DAY, gains

    home = options.home
    journal = Journal(home.journal_path)
    try:
        found = gains(journal, DAY)
    finally:
        journal.close()
    for gain in found:
        if options.as_json:
            print_json(asdict(gain))
        else:
            click.echo(practice_state.gained(gain))
    if not found and not options.as_json:
        click.echo("nothing was practised in the last day")
