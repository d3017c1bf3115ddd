"""`vidya pretrain`: a base model of someone's own text."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine.errors import ConfigError, DataError
from vidya_tui.cli_common import Options, common, print_json, say


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
