"""`vidya model`, `vidya pretrain` and `vidya doctor`."""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path

import click

from engine.errors import ConfigError, DataError, VidyaError
from vidya_tui import __version__
from vidya_tui.cli_common import Options, common, print_json, say


@click.group("model")
def model_group() -> None:
    """Models and their snapshots."""


@model_group.command("list")
@common
def list_models(options: Options) -> None:
    """The models there are."""
    from learning.model_store import ModelStore

    for info in ModelStore(options.home).list():
        row = {
            "name": info.name,
            "parameters": info.parameters,
            "version": info.version,
            "bytes": info.bytes,
            "shipped": info.shipped,
        }
        if options.as_json:
            print_json(row)
        else:
            where = "comes with vidya" if info.shipped else f"version {info.version}"
            click.echo(f"{info.name:12s} {info.parameters / 1e6:6.1f}M weights, {where}")


@model_group.command("show")
@click.argument("name", required=False)
@common
def show_model(name: str | None, options: Options) -> None:
    """What a model is."""
    from engine.checkpoint import load_config
    from learning.model_store import ModelStore

    info = ModelStore(options.home).info(name or options.model or "10m")
    config = load_config(info.path).to_huggingface()
    row = {
        "name": info.name,
        "parameters": info.parameters,
        "version": info.version,
        "config": config,
    }
    if options.as_json:
        print_json(row)
    else:
        click.echo(f"{info.name}: {info.parameters:,} weights, version {info.version}")
        click.echo(json.dumps(config, indent=1))


@model_group.command()
@click.argument("name", required=False)
@common
def snapshots(name: str | None, options: Options) -> None:
    """Weights that can be rolled back to."""
    from learning.model_store import ModelStore

    for shot in ModelStore(options.home).snapshots(name or options.model or "10m"):
        row = {
            "version": shot.version,
            "created": shot.created,
            "note": shot.note,
            "bytes": shot.bytes,
        }
        if options.as_json:
            print_json(row)
        else:
            click.echo(f"{shot.version:6d}  {time.ctime(shot.created)}  {shot.note}")


@model_group.command()
@click.argument("version", type=int)
@common
def rollback(version: int, options: Options) -> None:
    """Goes back to a snapshot; lessons since then wait for the next `vidya train`."""
    from learning.journal import Journal
    from learning.model_store import ModelStore

    home = options.home
    with home.lock():
        journal = Journal(home.journal_path)
        try:
            shot = ModelStore(home).rollback(options.model or "10m", version, journal)
        finally:
            journal.close()
    if options.as_json:
        print_json({"version": shot.version})
    else:
        click.echo(f"back at version {shot.version}")


@click.command()
@click.argument("data", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--config", "config_name", default="10m", show_default=True, help="tiny, 10m or 49m.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder; resumed if it exists."
)
@click.option("--minutes", type=float)
@click.option("--tokens", type=int)
@click.option(
    "--from", "start", type=click.Path(path_type=Path), help="A model folder to go on from."
)
@click.option(
    "--mixture", type=click.Path(path_type=Path), help="JSON: how often each source is seen."
)
@click.option("--row", type=int, default=256, show_default=True, help="Tokens a row.")
@click.option("--rows", type=int, default=32, show_default=True, help="Rows a step.")
@click.option("--decay", type=float, default=0.3, show_default=True)
@click.option("--compile", "compiled", is_flag=True, help="torch.compile; needs a C++ compiler.")
@common
def pretrain(
    data: tuple[Path, ...],
    config_name: str,
    out: Path,
    minutes: float | None,
    tokens: int | None,
    start: Path | None,
    mixture: Path | None,
    row: int,
    rows: int,
    decay: float,
    compiled: bool,
    options: Options,
) -> None:
    """Trains a model from scratch on DATA: conversations (.jsonl, .jsonl.zst) or plain text."""
    from engine.checkpoint import load_model
    from engine.config import CONFIGS
    from engine.tokenizer import Tokenizer, train_tokenizer
    from learning.corpus import TokenStream, read_documents
    from learning.pretrain import (
        PretrainReport,
        PretrainSettings,
        bits_per_byte,
        fresh_model,
    )
    from learning.pretrain import pretrain as run

    if config_name not in CONFIGS:
        raise ConfigError(
            f"config {config_name!r} does not exist", f"choose one of: {', '.join(CONFIGS)}"
        )
    settings = PretrainSettings(
        tokens=tokens,
        minutes=minutes,
        row=row,
        rows=rows,
        micro_rows=8 if rows % 8 == 0 else 1,
        decay=decay,
        seed=options.seed or 0,
        compile=compiled,
    )
    weights = _mixture(mixture)
    documents = [d for path in data for d in read_documents(path)]
    seen = [d for d in documents if not d.held_out and weights.get(d.source, 1.0) > 0]
    if not seen:
        raise DataError(f"{data[0]}: holds no documents", "give text, or rows of turns or text")
    out.mkdir(parents=True, exist_ok=True)
    if start is not None:
        tokenizer, model = Tokenizer.load(start), load_model(start)
    else:
        config = CONFIGS[config_name]
        if (out / "tokenizer.tiktoken").exists():
            tokenizer = Tokenizer.load(out)
        else:
            texts = (t for d in seen for t in ([d.text] if d.text else [x for _, x in d.turns]))
            tokenizer = train_tokenizer(texts, config.vocab_size)
        model = fresh_model(config, settings.seed)
    tokenizer.save(out)
    stream = TokenStream(seen, tokenizer, weights=weights, seed=settings.seed)
    say(f"{len(seen)} documents, {stream.tokens:,} tokens")

    def report(r: PretrainReport) -> None:
        if options.as_json:
            print_json({k: getattr(r, k) for k in r.__dataclass_fields__})
        else:
            speed = f"{r.tokens_per_second:.0f} tokens/s"
            say(f"step {r.step}, {r.done:.1%}, {r.tokens:,} tokens, loss {r.loss:.3f}, {speed}")

    progress = run(model, stream, settings, folder=out, report=report)
    held = bits_per_byte(model, tokenizer, [d for d in documents if d.held_out])
    record = {"tokens": progress.tokens, "seconds": progress.seconds, "bits_per_byte": held}
    (out / "record.json").write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print_json({"event": "done", **record})


def _mixture(path: Path | None) -> dict[str, float]:
    if path is None:
        return {}
    try:
        raw = json.loads(path.read_text("utf-8"))
        return {str(k): float(v) for k, v in raw.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise DataError(
            f"{path}: is no mixture ({error})", 'write {"source": weight, ...}'
        ) from error


@click.command()
@common
def doctor(options: Options) -> None:
    """What is installed, which device, how fast, what is wrong."""
    home = options.home
    report: dict[str, object] = {
        "vidya": __version__,
        "python": platform.python_version(),
        "home": str(home.path),
    }
    problems: list[str] = []
    import torch

    report["torch"] = torch.__version__
    report["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    report["threads"] = torch.get_num_threads()
    a = torch.randn(1024, 1024).bfloat16()
    started = time.perf_counter()
    for _ in range(10):
        a @ a
    report["bf16_gflops"] = round(10 * 2 * 1024**3 / (time.perf_counter() - started) / 1e9)
    from learning.journal import Journal
    from learning.model_store import ModelStore

    try:
        report["models"] = [info.name for info in ModelStore(home).list()]
    except VidyaError as error:
        problems.append(str(error))
    if home.journal_path.exists():
        try:
            journal = Journal(home.journal_path)
            report["journal"] = journal.integrity()
            report["journal_bytes"] = journal.size_bytes()
            journal.close()
        except VidyaError as error:
            problems.append(str(error))
    report["problems"] = problems
    if options.as_json:
        print_json(report)
    else:
        for key, value in report.items():
            click.echo(f"{key}: {value}")
    if problems:
        raise VidyaError(f"{len(problems)} problems", "see above")
