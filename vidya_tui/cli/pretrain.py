"""`vidya pretrain`: trains a base model on the owner's text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.errors import DataError, reason
from engine.storage.reading import read_json
from vidya_tui.cli.common import common, interruptible, print_json, say
from vidya_tui.cli.stdin import StoredFile
from vidya_tui.options import Options
from vidya_tui.text.numbers import counted, percent
from vidya_tui.text.sanitise import one_line

if TYPE_CHECKING:
    from learning.objectives.processes import ProcessGroup
    from learning.pretraining.job import Job
    from learning.pretraining.settings import PretrainReport, Progress

FOLDER = click.Path(path_type=Path)
LIVES_RATE = 0.0004
"""Default learning rate of AdamW with --lives."""


@click.command()
@click.argument(
    "data", nargs=-1, required=True, type=StoredFile(), help="Files or folders of text."
)
@click.option("--config", "config_name", default="10m", show_default=True, help="tiny, 10m or 49m.")
@click.option(
    "--out",
    type=FOLDER,
    help="Folder for the model; an interrupted run in it is resumed. Default: in the home.",
)
@click.option("--minutes", type=float, help="Train for this time in all.")
@click.option("--tokens", type=int, help="Tokens in all. Default: four passes over the data.")
@click.option("--from", "start", help="A model, by name or folder, from which to start.")
@click.option(
    "--mixture", type=StoredFile(), help="JSON file: how often each source comes in a pass."
)
@click.option(
    "--curriculum",
    metavar="NAME",
    help="How the tokens are divided among the sources: uniform, sec, exp3 or progress. "
    "Default: as --mixture says.",
)
@click.option(
    "--curriculum-cost",
    type=float,
    metavar="SHARE",
    help="Share of the run that measuring the sources may take, at most 0.5. Default: 0.08.",
)
@click.option("--skip-bad", is_flag=True, help="Skip rows that cannot be read.")
@click.option("--new-tokenizer", is_flag=True, help="Train a tokenizer on the data; needs rustbpe.")
@click.option(
    "--lives",
    is_flag=True,
    help="Take lessons about invented lives along, so that the model learns to be taught; needs --from.",
)
@click.option("--cache", type=FOLDER, help="Folder for tokenised files. Default: in --out.")
@click.option("--row", type=int, help="Tokens per row. Default: 256, or the model's context.")
@click.option("--rows", type=int, default=32, show_default=True, help="Rows per step.")
@click.option("--micro-rows", type=int, help="Rows per forward pass. Default: by device.")
@click.option(
    "--muon-lr",
    type=float,
    default=0.003,
    show_default=True,
    help="Learning rate of Muon, for matrices.",
)
@click.option(
    "--adam-lr",
    type=float,
    help="Learning rate of AdamW, for the rest. Default: 0.003; with --lives 0.0004, for all weights.",
)
@click.option(
    "--warm-up",
    type=float,
    default=0.01,
    show_default=True,
    help="Share of the run in which the learning rate rises.",
)
@click.option(
    "--decay",
    type=float,
    default=0.3,
    show_default=True,
    help="Share of the run in which the learning rate falls.",
)
@click.option(
    "--checkpoint-minutes",
    type=float,
    default=5.0,
    show_default=True,
    help="Minutes between checkpoints.",
)
@click.option("--fp32", is_flag=True, help="Compute in float32 even where bfloat16 is faster.")
@click.option(
    "--compile/--no-compile",
    "compiled",
    default=None,
    help="Use torch.compile. Default: on a GPU only.",
)
@common
def pretrain(
    data: tuple[Path, ...],
    config_name: str,
    out: Path | None,
    minutes: float | None,
    tokens: int | None,
    start: str | None,
    mixture: Path | None,
    curriculum: str | None,
    curriculum_cost: float | None,
    skip_bad: bool,
    new_tokenizer: bool,
    lives: bool,
    cache: Path | None,
    row: int | None,
    rows: int,
    micro_rows: int | None,
    muon_lr: float,
    adam_lr: float | None,
    warm_up: float,
    decay: float,
    checkpoint_minutes: float,
    fp32: bool,
    compiled: bool | None,
    options: Options,
) -> None:
    """Trains a model from scratch on DATA: conversations (.jsonl) or text, plain, .zst or .gz; or folders.

    Ctrl+C saves and stops; the same command then resumes.
    """
    import torch

    from learning.models.store import ModelStore
    from learning.objectives.processes import team_of_environment
    from learning.pretraining.job import Job, check_out, default_out

    if minutes is not None and tokens is not None:
        raise click.UsageError("give --minutes or --tokens, not both")
    if start and new_tokenizer:
        raise click.UsageError("--from keeps that model's tokenizer: leave --new-tokenizer out")
    if lives and not start:
        raise click.UsageError("--lives teaches a model that talks: name it with --from")
    if curriculum and mixture:
        raise click.UsageError("--curriculum divides the tokens itself: leave --mixture out")
    if curriculum_cost is not None and not curriculum:
        raise click.UsageError("--curriculum-cost is for --curriculum NAME")
    store = ModelStore(options.home)
    job = Job(
        data=data,
        out=out or default_out(options.home.models_path, data[0]),
        config=config_name,
        start=store.resolve(start) if start else None,
        new_tokenizer=new_tokenizer,
        cache=cache,
        mixture=_mixture(mixture),
        skip_bad=skip_bad,
        seed=options.seed or 0,
    )
    check_out(job.out)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if options.device:
        device = options.chosen_device
    chosen: dict[str, Any] = {
        "tokens": tokens,
        "minutes": minutes,
        "row": row,
        "rows": rows,
        "micro_rows": micro_rows,
        "muon_lr": muon_lr,
        "curriculum": curriculum,
        "lives": lives,
        "warm_up": warm_up,
        "decay": decay,
        "seed": job.seed,
        "fp32": fp32,
        "compile": device.startswith("cuda") if compiled is None else compiled,
        "checkpoint_minutes": checkpoint_minutes,
    }
    if curriculum_cost is not None:
        chosen["curriculum_cost"] = curriculum_cost
    if lives and adam_lr is None:
        adam_lr = LIVES_RATE
    if adam_lr is not None:
        chosen["adam_lr"] = adam_lr
    with team_of_environment(device) as (team, own_device):
        from learning.pretraining.checkpoint import run_folder

        with run_folder(job.out) if team.leads else nullcontext():
            _run(job, chosen, own_device, team, options)


def _run(
    job: Job, chosen: dict[str, Any], device: str, team: ProcessGroup, options: Options
) -> None:
    """Prepares, trains, measures and reports. Raises KeyboardInterrupt after an interrupted run."""
    from learning.pretraining import job as pretrain_job
    from learning.pretraining.checkpoint import check_order, read_record, write_record
    from learning.pretraining.lives_stage import LivesStage
    from learning.pretraining.loop import adamw, check_rows, chosen_order, muon_adamw, no_more
    from learning.pretraining.loop import pretrain as train
    from learning.pretraining.settings import PretrainSettings
    from learning.pretraining.sources import measurable_sources

    tell = say if team.leads else _silent
    context = job.context()
    usual = {"row": min(256, context)}
    usual["micro_rows"] = pretrain_job.micro_rows(chosen["rows"], team, device)
    unlimited = chosen["tokens"] is None and chosen["minutes"] is None
    if unlimited:
        usual["tokens"] = 1  # until the data is known
    given = {name: value for name, value in chosen.items() if value is not None}
    settings = PretrainSettings(**{**usual, **given})
    check_rows(settings, context, team)
    check_order(job.out, chosen_order(job.mixture, job.seed, settings))
    ready = pretrain_job.prepare(job, device, team, tell)
    model, stream = ready.model, ready.stream
    if unlimited:
        settings = replace(settings, tokens=pretrain_job.default_tokens(stream, model.config))
    if settings.curriculum:  # before the model is measured, which takes time
        measurable_sources(stream.corpus)
    limit = f"{settings.tokens:,} tokens" if settings.tokens else f"{settings.minutes:g} min"
    tell(
        f"{job.out}: {model.config.parameters / 1e6:.1f}M weights, {limit}, of "
        f"{stream.tokens:,} tokens in {counted(int((~stream.corpus.held).sum()), 'document')}; "
        f"held out: {counted(int(stream.corpus.held.sum()), 'document')}"
    )
    told = ready.told({})
    if team.leads:
        earlier = read_record(job.out).get("held_out_bits_per_byte", {})
        told = ready.told(earlier.get("before") or ready.measure())
    stage = None
    if settings.lives:  # beside the tokenised text: the talk is that of the model before this run
        cache = job.cache or job.out / "cache"
        stage = LivesStage.of(model, ready.tokenizer, cache, job.seed)
    show = _live(options.as_json) if team.leads else _silent
    with interruptible(tell) as interrupted:
        progress = train(
            model,
            stream,
            settings,
            folder=job.out,
            report=show,
            stop=interrupted.is_set,
            team=team,
            optimizer_of=adamw if stage else muon_adamw,
            also=stage.gradients if stage else no_more,
            told=told,
            special_ids=ready.tokenizer.special_ids,
        )
    if not team.leads:
        return
    if progress.done(settings) < 1.0:
        tell(f"saved in {job.out}; the same command goes on from here")
        raise KeyboardInterrupt
    held = ready.measure()
    told["held_out_bits_per_byte"]["after"] = held
    write_record(job.out, told, model, settings, progress)
    if options.as_json:
        result = {"tokens": progress.tokens, "seconds": progress.seconds, "bits_per_byte": held}
        if progress.curriculum:
            result["curriculum"] = progress.curriculum
        print_json({"event": "done", "model": str(job.out), **result})
        return
    for source, bits in held.items():
        click.echo(f"{bits:.3f} bits per byte, {one_line(source)}")
    if progress.curriculum:
        _tell_curriculum(progress)
    inside = job.out.parent == options.home.models_path
    name = job.out.name if inside else job.out
    if ready.talks:
        click.echo(f"talk to it: vidya --model {name}")
    else:
        click.echo(
            "it was trained on plain text only, so it goes on with a text and does not answer: "
            f'vidya ask --raw "Once" --model {name}'
        )


def _tell_curriculum(progress: Progress) -> None:
    """Prints how the tokens were divided, and what the curriculum thinks of each source now."""
    told = progress.curriculum
    measuring = told["measuring_seconds"] / max(progress.seconds, 1e-9)
    click.echo(f"curriculum {told['method']}; measuring took {percent(measuring)} of the time")
    for source, one in told["sources"].items():
        click.echo(
            f"{percent(one['share'])} of the tokens, value {one['value']:.2f}, {one_line(source)}"
        )
    if rest := told.get("not_measured"):
        share = percent(rest["tokens"] / max(1, progress.tokens))
        names = ", ".join(map(one_line, rest["sources"]))
        click.echo(f"{share} of the tokens, without held-out text to measure, {names}")


def _silent(_: object) -> None:
    """Prints nothing: only the first process of a team reports."""


def _live(as_json: bool) -> Callable[[PretrainReport], None]:
    """A function that shows progress: as JSON lines, as one overwritten line on a terminal, or else as a
    line about every 15 s."""
    import time

    on_terminal = sys.stderr.isatty()
    shown = 0.0

    def show(r: PretrainReport) -> None:
        nonlocal shown
        if as_json:
            told = {k: getattr(r, k) for k in r.__dataclass_fields__}
            if not r.sources:  # without a curriculum
                del told["sources"]
            print_json(told)
            return
        last = r.done >= 1.0
        if not on_terminal and not last and time.monotonic() - shown < 15:
            return
        shown = time.monotonic()
        line = (
            f"{r.done:6.1%}  {_clock(r.seconds_left)} left  loss {r.loss:.3f}  "
            f"{r.tokens:,} tokens, {r.tokens_per_second:,.0f} a second"
        ) + (f"  {counted(r.skipped, 'step')} skipped" if r.skipped else "")
        click.echo(f"\r\x1b[K{line}" if on_terminal else line, err=True, nl=last or not on_terminal)

    return show


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def _mixture(path: Path | None) -> dict[str, float]:
    if path is None:
        return {}
    try:
        raw = read_json(path)
        if not isinstance(raw, dict):
            raise ValueError("it must be an object")
        for source, weight in raw.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float):
                raise ValueError(f"the weight of {source!r} is {weight!r}, no number")
        return {source: float(weight) for source, weight in raw.items()}
    except (OSError, ValueError, OverflowError) as error:
        raise DataError(
            f"{path}: is no mixture ({reason(error)})", 'write {"source": weight, ...}'
        ) from error
