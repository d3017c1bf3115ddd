"""`vidya distil`: a larger model's answers, taught to a smaller one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from engine.errors import VidyaError
from vidya_tui.cli import complete
from vidya_tui.cli.common import common, interruptible, print_json, say
from vidya_tui.cli.stdin import read_file
from vidya_tui.options import Options
from vidya_tui.text.numbers import counted

if TYPE_CHECKING:
    from learning.distillation.answers import TeacherAnswer
    from learning.distillation.job import DistillationSettings
    from learning.distillation.run import DistillationResult, SavePoint


@click.command()
@click.option(
    "--from",
    "teacher",
    required=True,
    metavar="MODEL",
    shell_complete=complete.models,
    help="The larger model, by name or folder; it does not change.",
)
@click.option(
    "--to",
    "student",
    metavar="MODEL",
    shell_complete=complete.models,
    help="The smaller model that learns; else that of --model or `vidya model use`.",
)
@click.option(
    "--prompts",
    type=click.Path(),
    help="A text file, one opening a line, - is stdin; else those that come with vidya.",
)
@click.option("--count", type=click.IntRange(1), help="Only so many openings.")
@click.option(
    "--way",
    type=click.Choice(["soft", "sequence"]),
    default="soft",
    show_default=True,
    help="soft: the teacher's probability of every token; sequence: its words alone.",
)
@click.option(
    "--beta",
    type=click.FloatRange(0.0, 1.0),
    default=0.0,
    show_default=True,
    help="With --way soft and equal tokenizers: 0 is the forward divergence from the teacher, 1 the reverse "
    "one, between them the generalised Jensen-Shannon divergence.",
)
@click.option(
    "--draws", type=click.IntRange(1), help="Answers to each opening, of which one is kept."
)
@click.option("--epochs", type=click.IntRange(1), help="Times that each answer is learned.")
@click.option("--dry-run", is_flag=True, help="Draw and show the teacher's answers; learn nothing.")
@common
def distil(
    teacher: str,
    student: str | None,
    prompts: str | None,
    count: int | None,
    way: str,
    beta: float,
    draws: int | None,
    epochs: int | None,
    dry_run: bool,
    options: Options,
) -> None:
    """Teaches a smaller model what a larger one answers to everyday openings.

    Each opening is asked several times; the answer that agrees most with the others is kept, if it ends
    properly and does not repeat itself. The book and all lessons are kept, and /undo in the app takes the
    whole back. Ctrl+C saves what was learned and ends; answers that were drawn are not drawn again.
    """
    from learning.distillation.job import DistillationSettings

    if beta and way != "soft":
        raise click.UsageError("--beta needs the teacher's probabilities: --way soft")
    settings = DistillationSettings(way="soft" if way == "soft" else "sequence", count=count)
    if draws:
        settings = replace(settings, draw=replace(settings.draw, draws=draws))
    if epochs:
        settings = replace(settings, student=replace(settings.student, epochs=epochs))
    settings = replace(settings, student=replace(settings.student, beta=beta))
    with options.home.lock(), interruptible(say) as stopping:
        _distil(
            teacher,
            student or options.chosen_model,
            prompts,
            settings,
            dry_run,
            stopping.is_set,
            options,
        )
        if stopping.is_set():
            raise KeyboardInterrupt


def _distil(
    teacher_name: str,
    student_name: str,
    prompts: str | None,
    settings: DistillationSettings,
    dry_run: bool,
    stop: Callable[[], bool],
    options: Options,
) -> None:
    from learning.distillation.job import (
        OPENINGS,
        DistillationJob,
        check_enough,
        check_pair,
        check_tokenizers,
        chosen_openings,
        load_teacher,
    )
    from learning.journal.journal import Journal
    from learning.lessons.learner import Learner
    from learning.models.store import ModelStore

    home, store = options.home, ModelStore(options.home)
    given = read_file(prompts, OPENINGS) if prompts is not None else None
    asked = chosen_openings(given, settings.count)
    folder, own_folder = store.resolve(teacher_name), store.resolve(student_name)
    check_pair(folder, own_folder)
    device, seed = options.chosen_device, options.seed or 0
    version = store.info(teacher_name).version
    teacher = load_teacher(folder.name, folder, version, device)
    with home.learning():
        journal = Journal(home.journal_path)
        try:
            learner = Learner(home, own_folder, journal, device=device, seed=seed)
            if settings.student.beta:
                check_tokenizers(teacher.tokenizer, learner.tokenizer)
            job = DistillationJob(teacher, learner.transaction, learner.tokenizer, settings, seed)
            asked = job.unknown(asked)
            if not dry_run:
                check_enough(len(asked))
            say(f"{folder.name} is asked {counted(len(asked), 'opening')}")
            rows = job.answers(asked, _drawing(len(asked)), stop)
            _told(rows, options, dry_run)
            if dry_run or stop():
                return
            result = job.run(rows, _live(options), stop)
        finally:
            journal.close()
    _ended(result, folder.name, own_folder.name, options)


def _drawing(openings: int) -> Callable[[int, int], None]:
    """Says how far the teacher is, every hundred openings."""
    told = 0

    def show(done: int, tokens: int) -> None:
        nonlocal told
        if done - told >= 100 or done >= openings:
            told = done
            say(
                f"{counted(done, 'opening')} of {openings} answered, {counted(tokens, 'token')} drawn"
            )

    return show


def _told(rows: list[TeacherAnswer], options: Options, every: bool) -> None:
    """What the teacher answered: each answer, or how many are kept."""
    kept = [row for row in rows if row.answer]
    tokens = sum(row.tokens for row in rows)
    if every:
        for row in rows:
            if options.as_json:
                print_json({"event": "answer", **asdict(row)})
            else:
                say(f"{row.opening}\n    {row.answer or f'({row.why})'}")
    if options.as_json:
        print_json({"event": "answers", "openings": len(rows), "kept": len(kept), "tokens": tokens})
    else:
        say(f"{len(kept)} of {counted(len(rows), 'answer')} kept, {counted(tokens, 'token')} drawn")


def _live(options: Options) -> Callable[[SavePoint], None]:
    def show(point: SavePoint) -> None:
        if options.as_json:
            print_json(asdict(point))
            return
        what = "saved" if point.saved else "before"
        say(
            f"{what}: step {point.step} of {point.steps}, {point.held_out:.3f} nats a token on answers "
            f"that are not learned, book {point.book_recall:.1%}, {point.seconds:.0f} s"
        )

    return show


def _ended(result: DistillationResult, teacher: str, student: str, options: Options) -> None:
    before, last = result.before, result.last
    if options.as_json:
        print_json(
            {
                "event": "done",
                "ended": result.ended,
                "why": result.why,
                "held_out_before": before.held_out,
                "held_out_after": last.held_out,
                "book_before": before.book_recall,
                "book_after": last.book_recall,
                "steps": last.step,
                "seconds": last.seconds,
            }
        )
    else:
        click.echo(
            f"{student} learned from {teacher}: {before.held_out:.3f} -> {last.held_out:.3f} nats a token, "
            f"book {before.book_recall:.1%} -> {last.book_recall:.1%}, {last.seconds:.0f} s"
        )
    if result.ended == "rolled_back":
        raise VidyaError(f"distillation: {result.why}", "take fewer --epochs, or another teacher")
