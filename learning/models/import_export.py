"""Imports models into the home, and exports them for other programs.

Both read or write a folder in Hugging Face's layout or a GGUF file. Pickled weights are refused. Left out:
downloading (learning.models.get), parsing a tokenizer's files (engine.tokenizers).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from engine.config import ModelConfig, Sampling
from engine.errors import CheckpointError, NumericsError, VidyaError, reason
from engine.generate import generate
from engine.model import Model
from engine.precision import fast_dtype
from engine.storage.checkpoint import (
    compact,
    load_config,
    load_model,
    load_weights,
    save_config,
    save_tensors,
)
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.disk import demand_room, unwritable
from engine.storage.generation_file import (
    GENERATION,
    generation_of,
    read_generation,
    write_generation,
)
from engine.storage.gguf_file import GgufFile
from engine.storage.gguf_model import config_of, weights_of, write_gguf
from engine.storage.reading import JSON_BYTES
from engine.storage.weight_files import INDEX, current_files
from engine.tokenizers.byte_level import NAMES, TOKENIZER_BYTES, TOKENIZER_JSON
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.exported import gguf_metadata, huggingface_files
from engine.tokenizers.from_gguf import tokenizer_files
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.ranks import RANK_BYTES, RANKS, TOKENIZER_CONFIG
from engine.tokenizers.tokenizer import Tokenizer
from learning.models.foreign import ForeignFolder, demand_memory
from learning.models.store import ModelInfo, ModelStore

TOKENIZER = (RANKS, TOKENIZER_CONFIG)
CARD, LICENCE = "CARD.md", "LICENSE"
GGUF = ".gguf"
_MOST = {
    **dict.fromkeys(NAMES, TOKENIZER_BYTES),
    TOKENIZER_CONFIG: JSON_BYTES,
    RANKS: RANK_BYTES,
}
"""Tokenizer files that are imported, with the most bytes that are read of each."""
_TEXT_BYTES = 1_000_000
"""Most bytes that are read of a card or a licence."""
LARGEST_WEIGHT = 65_504.0
"""Largest absolute weight that is accepted: the maximum of float16, in which some machines compute. Trained
weights are below 100."""
_FOREIGN = ("tokenizer.model", "vocab.json")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def import_model(
    store: ModelStore,
    source: Path,
    name: str | None = None,
    *,
    texts: Mapping[str, str] | None = None,
    finish: Callable[[Path], None] = lambda _: None,
) -> ModelInfo:
    """Copies the model folder or GGUF file `source` into the home as `name` (default: the name of the
    source). If anything fails, the home is unchanged.

    texts: contents of CARD and LICENCE, which the source's own files replace. finish: called with the new
    folder before the model is listed. Raises CheckpointError or ConfigError if the engine cannot run the
    model or the home cannot store it.
    """
    source = source.expanduser()
    is_file = source.suffix.lower() == GGUF and not source.is_dir()
    name = name or (source.stem if is_file else source.resolve().name)
    check_free(store, name)
    if not is_file and not source.is_dir():
        raise CheckpointError(
            f"{source}: is no folder", "give the folder of a Llama or Qwen3 model, or a .gguf file"
        )
    read = _read_gguf if is_file else _read_folder
    config, fill = read(source)
    demand_room(store.place(name), 4 * config.parameters)  # in float32
    with store.new_model(name) as folder:
        for file, text in (texts or {}).items():
            (folder / file).write_text(text, "utf-8")
        save_config(config, folder)
        fill(folder)
        try:
            model, tokenizer = load_model(folder), load_tokenizer(folder)
            tokenizer.save(folder)
        except VidyaError as error:  # it names the copy, which is about to be removed
            what = error.what.replace(str(folder), str(source))
            raise CheckpointError(what, error.next_step) from error
        if tokenizer.vocab_size > model.config.vocab_size:
            raise CheckpointError(
                f"{source}: the tokenizer has {tokenizer.vocab_size} ids, the model "
                f"{model.config.vocab_size}",
                "give the tokenizer that the model was trained with",
            )
        _check_answer(model, tokenizer, source)
        del model
        finish(folder)
    return store.info(name)


def export_model(store: ModelStore, name: str, target: Path, kind: str = "f16") -> Path:
    """Writes a model into `target`, and returns its path. If `target` ends in .gguf, writes a GGUF file,
    which must not exist; otherwise a folder, which must be new or empty.

    kind: number format of a GGUF file's matrices, see gguf_model.KINDS. Raises NotFound if there is no model
    `name`, and CheckpointError if `target` exists or cannot be written.
    """
    source, target = store.info(name).path, target.expanduser()
    try:
        if target.suffix.lower() == GGUF:
            if target.exists():
                raise CheckpointError(f"{target}: is there already", "name a new file")
            return _write_file(source, name, target, kind)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CheckpointError(f"{target}: is not empty", "name a new folder")
        _write_folder(source, target)
    except OSError as error:
        raise CheckpointError(*unwritable(target, error, "choose another folder")) from error
    return target


def check_free(store: ModelStore, name: str) -> None:
    """Raises CheckpointError if a new model of the home cannot have this name: bad characters, or taken."""
    if not _NAME.fullmatch(name):
        raise CheckpointError(
            f"{name!r} is no name for a model", "give one of letters, digits, . _ - with --name"
        )
    if name in store.names():
        raise CheckpointError(
            f"there is a model {name!r} already", "give it another name with --name"
        )


Fill = Callable[[Path], None]
"""Writes the tokenizer, weights, card and licence of a source into a new folder; the config is written
before."""


def _read_folder(source: Path) -> tuple[ModelConfig, Fill]:
    foreign = ForeignFolder(source)
    config = foreign.config()
    own = foreign.has(RANKS)
    if not own and not foreign.has(TOKENIZER_JSON):
        _refuse_tokenizer(foreign)
    if not foreign.has(WEIGHTS) and not foreign.has(INDEX):
        load_model(
            foreign.path
        )  # raises an error that says what is missing, or that the weights are pickled

    def fill(folder: Path) -> None:
        for file in TOKENIZER if own else NAMES:
            if own or foreign.has(file):
                (folder / file).write_bytes(foreign.read(file, _MOST[file]))
        for file in (CARD, LICENCE):
            if foreign.has(file):
                (folder / file).write_bytes(foreign.read(file, _TEXT_BYTES))
        if foreign.has(GENERATION):
            said = foreign.json(GENERATION)
            write_generation(generation_of(said if isinstance(said, dict) else {}), folder)
        tensors = {name: compact(one) for name, one in foreign.weights(config).items()}
        # version 0: versions of another home do not belong to this home's journal
        save_tensors(tensors, folder / WEIGHTS, {"version": "0"})

    return config, fill


def _read_gguf(source: Path) -> tuple[ModelConfig, Fill]:
    file = GgufFile(source)
    config = config_of(file)
    demand_memory(source, config)
    try:
        files = tokenizer_files(file.metadata)
    except CheckpointError as error:
        raise CheckpointError(f"{source}: {error.what}", error.next_step) from error
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"{source}: its tokenizer cannot be read ({reason(error)[:200]})",
            "choose a file that has its tokenizer",
        ) from error

    def fill(folder: Path) -> None:
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
        save_tensors(weights_of(file, config), folder / WEIGHTS, {"version": "0"})

    return config, fill


def _write_folder(source: Path, target: Path) -> None:
    shape, tokenizer = load_config(source), load_tokenizer(source)
    end = tokenizer.chat.end
    tensors, config = _of_one_kind(_weights(source)), shape.to_huggingface()
    kind = str(next(iter(tensors.values())).dtype).removeprefix("torch.")
    stops = list(tokenizer.chat.stop_ids)
    config |= {"eos_token_id": end, "pad_token_id": end, "dtype": kind}
    target.mkdir(parents=True, exist_ok=True)
    tokenizer.save(target)
    for file, text in huggingface_files(tokenizer).items():
        (target / file).write_text(text, "utf-8")
    for name, value in {
        "config.json": config,
        GENERATION: {"eos_token_id": stops, "pad_token_id": end}
        | read_generation(source).to_json(),
    }.items():
        (target / name).write_text(json.dumps(value, indent=1) + "\n", "utf-8")
    for file in (CARD, LICENCE):
        if (source / file).exists():
            (target / file).write_bytes((source / file).read_bytes())
    save_tensors(tensors, target / WEIGHTS)


def _write_file(source: Path, name: str, target: Path, kind: str) -> Path:
    config, tokenizer = load_config(source), load_tokenizer(source)
    metadata = {"general.name": name, **gguf_metadata(tokenizer, config.vocab_size)}
    demand_room(target, config.parameters * (4 if kind == "f32" else 1 if kind == "q8_0" else 2))
    write_gguf(target, config, _weights(source), kind, metadata)
    return target


def _weights(folder: Path) -> dict[str, Tensor]:
    """The current weights under the names that transformers uses. If the files hold several dtypes (a
    lesson's delta is float32, its base may be shorter), all tensors are returned in the shortest dtype that
    holds all of them exactly."""
    tensors = load_weights(current_files(folder))
    kinds = {tensor.dtype for tensor in tensors.values()}
    by_length = sorted(kinds, key=lambda kind: (kind.itemsize, str(kind)))
    for kind in (*by_length, torch.float32) if len(kinds) > 1 else ():
        if all(torch.equal(tensor.to(kind).float(), tensor.float()) for tensor in tensors.values()):
            return {name: tensor.to(kind) for name, tensor in tensors.items()}
    return tensors


def _of_one_kind(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """All tensors in one dtype, because config.json names one: float16 if that holds all of them exactly,
    otherwise float32."""
    if len({one.dtype for one in tensors.values()}) == 1:
        return tensors
    halves = {name: one.half() for name, one in tensors.items()}
    if all(torch.equal(halves[name].float(), one.float()) for name, one in tensors.items()):
        return halves
    return {name: one.float() for name, one in tensors.items()}


def _refuse_tokenizer(foreign: ForeignFolder) -> None:
    found = [file for file in _FOREIGN if foreign.has(file)]
    has = f" (it has {found[0]}, of another kind)" if found else ""
    raise CheckpointError(
        f"{foreign.path}: has no {TOKENIZER_JSON} and no {RANKS}{has}",
        "only byte-level tokenizers can be used: a tokenizer.json of Hugging Face's, or "
        "tokenizer.tiktoken with tokenizer_config.json, as `vidya pretrain` writes them",
    )


def _check_answer(model: Model, tokenizer: Tokenizer, source: Path) -> None:
    """Generates four tokens. Finite weights can still be so large that the logits are not finite. Raises
    CheckpointError then, or if a weight is above LARGEST_WEIGHT."""
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
