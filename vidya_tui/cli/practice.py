"""`vidya practice`: practises verifiable tasks without the owner."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from engine.errors import ConfigError, VidyaError
from learning.practice.settings import SELF_PLAY
from learning.practice.supply.arms import arm_name
from learning.practice.supply.typed import split_typed
from learning.protocol.events import (
    Event,
    PracticeDone,
    PracticeSample,
    PracticeStage,
    PracticeStep,
)
from learning.protocol.practice_events import PracticeStarted
from learning.protocol.requests import CancelPractice, Practise
from vidya_tui.cli import complete
from vidya_tui.cli.common import (
    LocalTeacher,
    common,
    local_teacher,
    open_journal,
    print_json,
    say,
    show,
)
from vidya_tui.cli.stdin import StoredFile
from vidya_tui.options import Options
from vidya_tui.state import practice as practice_state
from vidya_tui.state.ladder import joined
from vidya_tui.state.practice_runs import entry_line
from vidya_tui.state.samples import by_component, none_has
from vidya_tui.text.numbers import counted


@click.command()
@click.argument(
    "tasks",
    nargs=-1,
    metavar="TASKS...",
    shell_complete=complete.tasks,
    help="Tasks, each followed by settings of its difficulty, NAME=VALUE; --list shows the names.",
)
@click.option("--list", "listing", is_flag=True, help="List the tasks.")
@click.option("--report", is_flag=True, help="Show practice and gains of the last day.")
@click.option(
    "--steps", type=click.IntRange(0), help="Number of steps; 0 only measures, or warms up."
)
@click.option("--group-size", type=click.IntRange(2), help="Answers per problem.")
@click.option("--data", type=StoredFile(), help="File or folder with the task's problems.")
@click.option(
    "--warm-up/--no-warm-up",
    default=None,
    help="Start with worked examples. Default: only if few problems are solved yet.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of every task's difficulty: --set max_terms=3.",
)
@click.option(
    "--curriculum",
    metavar="NAME",
    help="How problems are divided among several tasks: uniform, thresholds, sec, exp3 or progress.",
)
@click.option(
    "--examples",
    type=click.IntRange(1),
    metavar="N",
    help="Practise N problems of the task again and again, always the same ones.",
)
@click.option(
    "--example",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="The first of these examples; needs --examples.",
)
@click.option(
    "--order",
    metavar="NAME",
    help="The order of the examples: none, random, easy_to_hard, hard_to_easy or blocks.",
)
@click.option(
    "--self-play",
    is_flag=True,
    help="The model asks itself the questions: no harder and no easier than it can learn from.",
)
@click.option(
    "--option",
    "practice_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of practice itself: --option kl_weight=0.05. docs/reference.md lists them.",
)
@click.option(
    "--again", type=int, metavar="RUN", help="Repeat a run: its task, settings, data and seed."
)
@click.option(
    "--samples", type=int, metavar="RUN", help="Show the answers that were kept of a run."
)
@click.option(
    "--by",
    metavar="COMPONENT",
    help="Of these, those that a component of the reward pays for, most first: --by python_count; or "
    "those with one value of it: --by correct=0.",
)
@click.option("--runs", is_flag=True, help="List the last runs.")
@common
def practice(
    tasks: tuple[str, ...],
    listing: bool,
    report: bool,
    steps: int | None,
    group_size: int | None,
    data: Path | None,
    warm_up: bool | None,
    settings: tuple[str, ...],
    curriculum: str | None,
    examples: int | None,
    example: int | None,
    order: str | None,
    self_play: bool,
    practice_options: tuple[str, ...],
    again: int | None,
    samples: int | None,
    by: str | None,
    runs: bool,
    options: Options,
) -> None:
    """Practises TASK: samples answers, checks them with a program, and makes right answers likelier.

    Of several tasks, or one at several difficulties (`chain_sum max_terms=2 chain_sum max_terms=3`), a
    curriculum chooses the next problems.
    If the model solves fewer than a fifth of the problems, worked examples come first. Ctrl+C ends practice
    after the current step and keeps what was gained; a second Ctrl+C drops that step.
    """
    wanted = {"--list": listing, "--report": report, "--runs": runs}
    wanted |= {"--samples": samples is not None, "--again": again is not None}
    _only_one([name for name, on in wanted.items() if on], tasks)
    if listing:
        _list(options)
        return
    if report:
        _report(options)
        return
    if by is not None and samples is None:
        raise click.UsageError("--by chooses among --samples RUN")
    if runs or samples is not None:
        _journaled(samples, by or "", options)
        return
    named = {
        "curriculum.method": curriculum,
        "few.examples": examples,
        "few.example": example,
        "few.order": order,
        "self_play.questions": SELF_PLAY if self_play else None,
    }
    chosen = [f"{name}={value}" for name, value in named.items() if value is not None]
    if again is not None:
        given = tasks or settings or chosen or practice_options or data
        if given or warm_up is not None or options.seed is not None:
            raise click.UsageError("--again RUN takes task, data, settings and seed from that run")
        request = _again(again, options)
        request = replace(request, steps=steps, group_size=group_size)
    elif not tasks:
        raise click.UsageError("name a task; --list shows their names")
    else:
        from learning.practice.supply.arms import requested

        always = options.settings.practice_options.split()
        request = requested(tasks, settings)
        path = str(data.expanduser().resolve()) if data else None
        request = replace(
            request,
            steps=steps,
            group_size=group_size,
            data=path,
            warm_up=warm_up,
            options=(*always, *chosen, *request.options, *practice_options),
            seed=options.seed,
        )
    _check(request)
    task = request.task
    with _together(options) as own, local_teacher(own) as place:
        assert place.teacher is not None
        place.teacher.send(request)
        done, stopped = _until_done(place, options)
        if again is not None and done.run is not None:
            _compare(again, done.run, options)
        vain = done.ended == "too_few" and not done.saves
        failed = vain or done.ended in ("rolled_back", "too_hard", "alarm")
        if options.as_json:
            print_json({"event": "done", **asdict(done)})
        elif not failed or done.accuracy_after is not None:  # why it failed is the error, below
            show(practice_state.done(replace(done, why="") if failed else done))
        if stopped:
            raise KeyboardInterrupt
        if failed:
            arms = request.arms or (arm_name(task, request.settings),)
            typed = shlex.join(word for arm in arms for word in split_typed(arm))
            next_step = practice_state.advice(done, f"vidya practice {typed} --warm-up")
            raise VidyaError(f"{task}: {done.why}", next_step)


def _only_one(given: Sequence[str], tasks: Sequence[str]) -> None:
    """Raises UsageError for two options that each ask for something else than practising tasks, and for one
    of them that is given beside a task."""
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} do not go together: give one of them")
    if tasks and given and given != ["--again"]:
        raise click.UsageError(f"{given[0]} practises nothing: leave {' '.join(tasks)!r} out")


@contextmanager
def _together(options: Options) -> Iterator[Options]:
    """Yields the options of this process. Of those that `torchrun` started the first one practises in the
    owner's home; each other one in a copy, which is dropped, and silently."""
    from learning.models.copied_home import copied_home
    from learning.objectives.processes import started_together, team_of_environment

    if not started_together():
        yield options
        return
    with team_of_environment(options.chosen_device) as (team, device):
        if team.leads:
            team.wait()  # until the others have their copies
            yield replace(options, device=device)
            return
        with copied_home(options.home, options.chosen_model) as (home, model):
            team.wait()
            with (
                Path(os.devnull).open("w") as nowhere,
                redirect_stdout(nowhere),
                redirect_stderr(nowhere),
            ):
                try:
                    yield replace(options, home_path=home.path, model=model, device=device)
                except VidyaError:  # the first process tells it
                    raise SystemExit(1) from None


def _until_done(place: LocalTeacher, options: Options) -> tuple[PracticeDone, bool]:
    """(final event, whether Ctrl+C ended the practice)."""
    known = practice_state.Practising()

    def told(event: Event) -> None:
        nonlocal known
        before, known = known, practice_state.after(known, event)
        if known.alarm != before.alarm:
            say(f"alarm: {known.alarm}")
        _print(event, options)

    try:
        return place.next(told, PracticeDone), False
    except KeyboardInterrupt:
        say("ending after this step; ctrl+c again drops it")
        assert place.teacher is not None
        place.teacher.send(CancelPractice())
        return place.next(told, PracticeDone), True


def _print(event: Event, options: Options) -> None:
    if isinstance(event, PracticeStarted):
        if options.as_json:
            print_json({"event": "settings", **asdict(event)})
        else:
            say(practice_state.started(event))
    elif isinstance(event, PracticeStage):
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


def _check(request: Practise) -> None:
    """Raises NotFound for an unknown task and ConfigError for an option, before the model is loaded."""
    from learning.practice.requested import practice_settings
    from learning.practice.settings import PracticeSettings
    from learning.practice.supply.arms import require_task, split_arm

    for arm in request.arms or (request.task,):
        require_task(split_arm(arm)[0])
    if request.arms and request.data:
        raise ConfigError("--data goes with one task", "practise that task alone")
    practice_settings(PracticeSettings(), request)


def _again(run: int, options: Options) -> Practise:
    """The request that repeats a run. Raises NotFound."""
    from learning.journal.practices import practice_entry
    from learning.practice.record import repetition

    with open_journal(options) as journal:
        return repetition(practice_entry(journal, run))


def _compare(run: int, now: int, options: Options) -> None:
    from learning.journal.practices import same_steps

    with open_journal(options) as journal:
        same, both = same_steps(journal, run, now)
    if options.as_json:
        print_json({"event": "again", "run": run, "same_steps": same, "steps": both})
    elif not both:
        say(f"again: there is no step after warm-up to compare with run {run}")
    else:
        say(
            f"again: {same} of {counted(both, 'step')} are the same as in run {run}, to the last digit"
        )


def _journaled(run: int | None, by: str, options: Options) -> None:
    """Prints the last runs, or the samples of one. Raises NotFound, ConfigError."""
    from learning.journal.practices import practice_entries, practice_entry, practice_samples

    with open_journal(options) as journal:
        if run is not None:
            practice_entry(journal, run)
            kept = practice_samples(journal, run)
            found = by_component(kept, by) if kept else []
            for sample in found:
                if options.as_json:
                    print_json(asdict(sample))
                else:
                    show(f"step {sample.step}: {practice_state.sampled(sample)}")
            if not found and not options.as_json:
                show(none_has(by) if kept else f"no answer was kept of run {run}")
            return
        for entry in (entries := practice_entries(journal)):
            if options.as_json:
                print_json(asdict(entry))
            else:
                show(entry_line(entry))
        if not entries:
            say("nothing was practised yet; `vidya practice chain_sum` begins")


def _list(options: Options) -> None:
    from learning.rewards.registry import tasks

    for name, line in sorted(tasks().items()):
        if options.as_json:
            print_json({"name": name, "what": line})
        else:
            show(f"{name:30s} {line}")


def _report(options: Options) -> None:
    from learning.journal.practices import joined_rungs
    from learning.practice.report import DAY, gains

    with open_journal(options) as journal:
        found, rungs = gains(journal, DAY), joined_rungs(journal, "", since=time.time() - DAY)
    for gain in found:
        if options.as_json:
            print_json(asdict(gain))
        else:
            show(practice_state.gained(gain))
    if rungs and options.as_json:
        print_json({"event": "joined", "arms": rungs})
    elif rungs:
        show(joined(rungs))
    if not found and not options.as_json:
        show("nothing was practised in the last day")
