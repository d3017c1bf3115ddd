"""Models from elsewhere into the home, and out of it to where other programs read them.

Both ways it is Hugging Face's layout of a Llama model, safetensors only. Left out: other programs'
tokenizers, whose special tokens a conversation here could not be written with.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import torch

from engine.config import Sampling
from engine.errors import CheckpointError, NumericsError, VidyaError
from engine.generate import generate
from engine.model import Model
from engine.precision import fast_dtype
from engine.storage.checkpoint import load_config, load_model, load_tensors, save_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import demand_room, unwritable
from engine.storage.reading import JSON_BYTES
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.ranks import RANK_BYTES, RANKS, TOKENIZER_CONFIG
from engine.tokenizers.tokenizer import Tokenizer
from learning.models.foreign import INDEX, ForeignFolder
from learning.models.store import ModelInfo, ModelStore

TOKENIZER = (RANKS, TOKENIZER_CONFIG)
CARD = "CARD.md"
_FILES = {
    "config.json": JSON_BYTES,
    TOKENIZER_CONFIG: JSON_BYTES,
    RANKS: RANK_BYTES,
    CARD: 1_000_000,
}
"""What is copied besides the weights, and how many bytes of each at most."""
LARGEST_WEIGHT = 65_504.0
"""The largest number of float16, in which some machines multiply; trained weights are below a hundred."""
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
    foreign = ForeignFolder(source)
    config = foreign.config()
    _check_tokenizer(foreign)
    _check_weights(foreign)
    demand_room(store.place(name), 4 * config.parameters)  # in float32
    with store.new_model(name) as folder:
        for file, most in _FILES.items():
            if file != CARD or foreign.has(CARD):
                (folder / file).write_bytes(foreign.read(file, most))
        # version 0: the numbers of another home's lessons mean nothing here
        save_tensors(foreign.weights(config), folder / WEIGHTS, {"version": "0"})
        try:
            model, tokenizer = load_model(folder), Tokenizer.load(folder)
        except VidyaError as error:  # names the copy, which is gone in a moment
            what = error.what.replace(str(folder), str(source))
            raise CheckpointError(what, error.next_step) from error
        if tokenizer.vocab_size > model.config.vocab_size:
            raise CheckpointError(
                f"{source}: the tokenizer has {tokenizer.vocab_size} ids, the model "
                f"{model.config.vocab_size}",
                "give the tokenizer that the model was trained with",
            )
        _check_answer(model, tokenizer, source)
    return store.info(name)


def export_model(store: ModelStore, name: str, target: Path) -> Path:
    """Writes a model into the folder `target`, which must be new or empty. Raises NotFound,
    CheckpointError."""
    source, target = store.info(name).path, target.expanduser()
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CheckpointError(f"{target}: is not empty", "name a new folder")
        shape, tokenizer = load_config(source), Tokenizer.load(source)
        end = tokenizer.chat.end
        tensors, config = load_tensors(source / WEIGHTS)[0], shape.to_huggingface()
        kind = str(next(iter(tensors.values())).dtype).removeprefix("torch.")
        config |= {"eos_token_id": end, "pad_token_id": end, "dtype": kind}
        target.mkdir(parents=True, exist_ok=True)
        (target / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
        for file in (*tokenizer.files(), CARD):
            if (source / file).exists():
                shutil.copyfile(source / file, target / file)
        save_tensors(tensors, target / WEIGHTS)
    except OSError as error:
        raise CheckpointError(*unwritable(target, error, "choose another folder")) from error
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


def _check_tokenizer(foreign: ForeignFolder) -> None:
    missing = [file for file in TOKENIZER if not foreign.has(file)]
    if not missing:
        return
    found = [file for file in _FOREIGN if foreign.has(file)]
    has = f" (it has {found[0]}, another program's)" if found else ""
    raise CheckpointError(
        f"{foreign.path}: has no {missing[0]}{has}",
        "only vidya's own tokenizers can be used: tokenizer.tiktoken with tokenizer_config.json, "
        "as `vidya pretrain` and `vidya model export` write them",
    )


def _check_weights(foreign: ForeignFolder) -> None:
    if not foreign.has(WEIGHTS) and not foreign.has(INDEX):
        load_model(foreign.path)  # says what is wrong, pickles above all


def _check_answer(model: Model, tokenizer: Tokenizer, source: Path) -> None:
    """Draws a few words: weights that are finite may still be so large that nothing made of them is."""
    prompt = encode_prompt(tokenizer, [("user", "Hello, who are you?")], model.config.context, 4)
    largest = max(float(weight.detach().abs().max()) for weight in model.parameters())
    still = model.to(fast_dtype("cpu")).requires_grad_(False).eval()
    try:
        if largest > LARGEST_WEIGHT:
            raise NumericsError(f"its largest weight is {largest:.0e}")
        for _ in generate(
            still, tokenizer, prompt, 1, Sampling(max_tokens=4), generator=torch.Generator()
        ):
            pass
    except NumericsError as error:
        raise CheckpointError(
            f"{source}: its weights are so large ({largest:.0e}) that nothing can be reckoned with them",
            "copy the model again, or choose another",
        ) from error
