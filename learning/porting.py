"""Models from elsewhere into the home, and out of it to where other programs read them.

Both ways it is Hugging Face's layout of a Llama model, safetensors only. Left out: other programs'
tokenizers, whose special tokens a conversation here could not be written with.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from torch import Tensor

from engine.checkpoint import load_config, load_model, load_tensors, save_tensors
from engine.checkpoint_files import WEIGHTS
from engine.errors import CheckpointError
from engine.tokenizer import Tokenizer
from learning.model_store import ModelInfo, ModelStore

INDEX = "model.safetensors.index.json"
TOKENIZER = ("tokenizer.tiktoken", "tokenizer_config.json")
CARD = "CARD.md"
_FOREIGN = ("tokenizer.json", "tokenizer.model", "vocab.json")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def import_model(store: ModelStore, source: Path, name: str | None = None) -> ModelInfo:
    """Copies the model folder `source` into the home, as `name` or under its own; it is whole or
    not there. Raises CheckpointError or ConfigError for what this engine cannot run."""
    name = name or source.expanduser().resolve().name
    check_free(store, name)
    source = source.expanduser()
    if not source.is_dir():
        raise CheckpointError(f"{source}: is no folder", "give the folder of a Llama model")
    load_config(source)
    _check_tokenizer(source)
    with store.new_model(name) as folder:
        for file in ("config.json", *TOKENIZER, CARD):
            if file != CARD or (source / CARD).exists():
                shutil.copyfile(source / file, folder / file)
        # version 0: the numbers of another home's lessons mean nothing here
        save_tensors(_weights(source), folder / WEIGHTS, {"version": "0"})
        model, tokenizer = load_model(folder), Tokenizer.load(folder)
        if tokenizer.vocab_size > model.config.vocab_size:
            raise CheckpointError(
                f"{source}: the tokenizer has {tokenizer.vocab_size} ids, the model "
                f"{model.config.vocab_size}",
                "give the tokenizer that the model was trained with",
            )
    return store.info(name)


def export_model(store: ModelStore, name: str, target: Path) -> Path:
    """Writes a model into the folder `target`, which must be new or empty. Raises NotFound,
    CheckpointError."""
    source, target = store.info(name).path, target.expanduser()
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CheckpointError(f"{target}: is not empty", "name a new folder")
        tensors, end = _weights(source), Tokenizer.load(source).end
        config = load_config(source).to_huggingface()
        kind = str(next(iter(tensors.values())).dtype).removeprefix("torch.")
        config |= {"eos_token_id": end, "pad_token_id": end, "dtype": kind}
        target.mkdir(parents=True, exist_ok=True)
        (target / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
        for file in (*TOKENIZER, CARD):
            if (source / file).exists():
                shutil.copyfile(source / file, target / file)
        save_tensors(tensors, target / WEIGHTS)
    except OSError as error:
        raise CheckpointError(
            f"{target}: cannot be written ({error})", "choose another folder"
        ) from error
    return target


def check_free(store: ModelStore, name: str) -> None:
    """Raises CheckpointError where a new model of the home cannot have this name."""
    if not _NAME.fullmatch(name):
        raise CheckpointError(
            f"{name!r} is no name for a model", "give one of letters, digits, . _ - with --name"
        )
    if name in store.names():
        raise CheckpointError(
            f"there is a model {name!r} already", "give it another name with --name"
        )


def _check_tokenizer(source: Path) -> None:
    missing = [file for file in TOKENIZER if not (source / file).exists()]
    if not missing:
        Tokenizer.load(source)
        return
    foreign = [file for file in _FOREIGN if (source / file).exists()]
    has = f" (it has {foreign[0]}, another program's)" if foreign else ""
    raise CheckpointError(
        f"{source}: has no {missing[0]}{has}",
        "only vidya's own tokenizers can be used: tokenizer.tiktoken with tokenizer_config.json, "
        "as `vidya pretrain` and `vidya model export` write them",
    )


def _weights(source: Path) -> dict[str, Tensor]:
    """The tensors of one file, or of the several that an index names."""
    index = source / INDEX
    if (source / WEIGHTS).exists() or not index.exists():
        if not (source / WEIGHTS).exists():
            load_model(source)  # says what is wrong, pickles above all
        return load_tensors(source / WEIGHTS)[0]
    try:
        names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
        if any(Path(name).name != name for name in names):
            raise ValueError("it names a file outside of the folder")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise CheckpointError(
            f"{index}: cannot be read ({error})", "copy the model again"
        ) from error
    return {key: value for name in names for key, value in load_tensors(source / name)[0].items()}
