"""`vidya practice`: practises verifiable tasks without the owner."""

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
    help="The task to practise; --list shows their names.",
)
@click.option("--list", "listing", is_flag=True, help="List the tasks.")
@click.option("--report", is_flag=True, help="Show practice and gains of the last day.")
@click.option(
    "--steps", type=click.IntRange(0), help="Number of steps; 0 only measures, or warms up."
)
@click.option("--group-size", type=click.IntRange(2), help="Answers per problem.")
@click.option(
    "--data", type=click.Path(path_type=Path), help="File or folder with the task's problems."
)
@click.option(
    "--warm-up/--no-warm-up",
    default=None,
    help="Start with worked examples. Default: only if the model cannot do the task at all.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the task's difficulty: --set max_terms=3.",
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
    """Practises TASK: samples answers, checks them with a program, and makes right answers likelier.

    If the model cannot do the task at all yet, worked examples come first. Ctrl+C ends practice after the
    current step and keeps what was gained; a second Ctrl+C drops that step.
    """
    if listing:
        _list(options)
        return
    if report:
        _report(options)
        return
    if task is None:
        raise click.UsageError("name a task; --list shows their names")
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
    """(final event, whether Ctrl+C ended the practice)."""

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
    """Raises NotFound for an unknown task, before the model is loaded."""
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
