"""Models of other programs come in, whole or not at all, and go out so that these programs serve them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from made_tokenizers import trained, write

from engine.config import CONFIGS, GREEDY, ModelConfig
from engine.errors import CheckpointError, VidyaError
from engine.generate import generate
from engine.model import Model
from engine.storage.checkpoint import load_model, load_tensors, save_model, save_tensors
from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.generation_file import Generation
from engine.tokenizers.chat_format import encode_prompt
from engine.tokenizers.load import load_tokenizer
from learning.home import Home
from learning.models.home_files import home_files
from learning.models.import_export import export_model, import_model
from learning.models.store import ModelStore

KINDS: dict[str, dict[str, Any]] = {
    "llama": {},
    "llama, untied": {"tied": False},
    "qwen3": {"qk_norm": True, "head_size": 32},
}


def small(**changes: Any) -> ModelConfig:
    return replace(CONFIGS["tiny"], vocab_size=640, context=256, **changes)


def folder_of(folder: Path, config: ModelConfig, split: str = "smollm") -> Path:
    """Another program's folder: weights in float32 that bfloat16 has, and a `tokenizer.json`."""
    model = Model(config, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4.0 if weight.dim() == 2 else 1.0).copy_(weight.bfloat16())
    save_model(model, folder, dtype=torch.float32)
    return write(folder, trained(split=split))


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(Home(tmp_path / "home"))


def greedy(folder: Path, ids: list[int]) -> list[int]:
    sampling = GREEDY.with_(max_tokens=12)
    stream = generate(
        load_model(folder), load_tokenizer(folder), ids, 1, sampling, generator=torch.Generator()
    )
    return list(getattr(list(stream)[-1], "tokens", ()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_in_and_out(kind: str, store: ModelStore, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    source = folder_of(tmp_path / "theirs", small(**KINDS[kind]))
    (source / "LICENSE").write_text("free\n")
    info = import_model(store, source)
    tensors, _ = load_tensors(info.path / WEIGHTS)
    assert {one.dtype for one in tensors.values()} == {torch.bfloat16}, "half the bytes, no loss"
    out = export_model(store, "theirs", tmp_path / "out")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32)
    words = transformers.AutoTokenizer.from_pretrained(out)
    found = words.apply_chat_template(
        [{"role": "user", "content": "Who are you?"}], add_generation_prompt=True
    )
    ids = encode_prompt(load_tokenizer(info.path), [("user", "Who are you?")], 256, 16)
    assert list(found if isinstance(found, list) else found["input_ids"]) == ids
    with torch.no_grad():
        mine = load_model(info.path)(torch.tensor([ids]))
        torch.testing.assert_close(mine, theirs(torch.tensor([ids])).logits, atol=1e-4, rtol=1e-4)
    assert (out / "LICENSE").read_text() == "free\n"
    import_model(store, out, "again")
    assert greedy(store.place("again"), ids) == greedy(info.path, ids)
    home = Home(tmp_path / "home")
    assert {file.role for file in home_files(home)} <= {"model", "weights", "plain"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_out_and_in(kind: str, store: ModelStore, tmp_path: Path) -> None:
    import_model(store, folder_of(tmp_path / "theirs", small(**KINDS[kind])))
    ids = encode_prompt(load_tokenizer(store.place("theirs")), [("user", "Hi 12")], 256, 16)
    with torch.no_grad():
        expected = load_model(store.place("theirs"))(torch.tensor([ids]))
    for numbers in ("bf16", "q8_0"):
        out = export_model(store, "theirs", tmp_path / f"out-{numbers}.gguf", numbers)
        assert import_model(store, out).name == f"out-{numbers}"
        again = store.place(f"out-{numbers}")
        assert load_tokenizer(again).chat == load_tokenizer(store.place("theirs")).chat
        with torch.no_grad():
            found = load_model(again)(torch.tensor([ids]))
        bound = 0.0 if numbers == "bf16" else 0.05 * float(expected.abs().max())
        assert (found - expected).abs().max() <= bound
    with pytest.raises(CheckpointError, match="there already"):
        export_model(store, "theirs", out)


@pytest.mark.parametrize(("norm", "kind"), [(0.75, torch.float16), (1e-9, torch.float32)])
def test_a_folder_goes_out_in_one_precision(
    norm: float, kind: torch.dtype, store: ModelStore, tmp_path: Path
) -> None:
    """Imported weights are kept in two bytes each as they fit; a config names one precision."""
    source = folder_of(tmp_path / "theirs", small())
    tensors = {k: v.half().bfloat16().float() for k, v in load_tensors(source / WEIGHTS)[0].items()}
    tensors["model.embed_tokens.weight"] = torch.randn(640, 64).half().float()
    tensors["model.norm.weight"] = torch.full((64,), norm).bfloat16().float()
    save_tensors(tensors, source / WEIGHTS)
    folder = import_model(store, source).path
    kept, _ = load_tensors(folder / WEIGHTS)
    assert {one.dtype for one in kept.values()} == {torch.float16, torch.bfloat16}
    out = export_model(store, "theirs", tmp_path / "out")
    found, _ = load_tensors(out / WEIGHTS)
    assert {one.dtype for one in found.values()} == {kind}
    assert json.loads((out / "config.json").read_text())["dtype"] == str(kind).split(".")[1]
    assert all(torch.equal(found[name].float(), one) for name, one in tensors.items())


@pytest.mark.slow
def test_vidyas_own_model_goes_out_as_both(store: ModelStore, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    out = export_model(store, "10m", tmp_path / "out")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32)
    words = transformers.AutoTokenizer.from_pretrained(out)
    ids = encode_prompt(load_tokenizer(out), [("user", "Who are you?")], 512, 32)
    found = words.apply_chat_template(
        [{"role": "user", "content": "Who are you?"}], add_generation_prompt=True
    )
    assert list(found if isinstance(found, list) else found["input_ids"]) == ids
    said = theirs.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=24)[0, len(ids) :]
    assert words.decode(said, skip_special_tokens=True).startswith("I am Vidya")
    assert (tmp_path / "out" / "CARD.md").exists()
    export_model(store, "10m", tmp_path / "out.gguf")
    assert import_model(store, tmp_path / "out.gguf").parameters == store.info("10m").parameters


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the home of a model called theirs, the folder it came from, and its GGUF file."""
    place = tmp_path_factory.mktemp("made")
    store = ModelStore(Home(place / "home"))
    import_model(store, folder_of(place / "theirs", small()))
    export_model(store, "theirs", place / "good.gguf")
    return place


@pytest.fixture
def file(made: Path, store: ModelStore, tmp_path: Path) -> Path:
    """A good GGUF file, of a model that the store has."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "good.gguf"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:-500], "it ends within"),
        (lambda data: b"no" + data, "does not begin"),
        (
            lambda data: data.replace(b"general.architecture", b"general.architecturf"),
            "its archite",
        ),
        (
            lambda data: data.replace(b"tokenizer.ggml.tokens", b"tokenizer.ggml.tokenz"),
            "tokenizer",
        ),
        (lambda data: data.replace(b"tokenizer.ggml.model", b"tokenizer.ggml.mode1"), "tokenizer"),
        (lambda data: data.replace(b"tokenizer.ggml.pre", b"tokenizer.ggml.prf"), "nothing"),
        (lambda data: data[:-2000] + b"\xff\x7f" * 1000, "not finite"),
        (lambda data: data[:-2000] + b"\xff\x7b" * 1000, "so large"),
    ],
)
def test_a_bad_file_leaves_nothing(damage: Any, words: str, store: ModelStore, file: Path) -> None:
    file.write_bytes(damage(file.read_bytes()))
    if words == "nothing":  # a file without the name of its split is split as usual
        import_model(store, file)
        return
    with pytest.raises(VidyaError) as caught:
        import_model(store, file)
    assert words in caught.value.what and "\n" not in caught.value.what
    assert str(store.place("")) not in caught.value.what, "the owner's file is named"
    assert [p.name for p in store.place("").iterdir()] == ["theirs"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tokenizer.ggml.tokens", [1, 2, 3]),
        ("tokenizer.ggml.tokens", "no list"),
        ("tokenizer.ggml.token_type", [1]),
        ("tokenizer.ggml.token_type", ["x"] * 600),
        ("tokenizer.ggml.merges", [[]]),
        ("tokenizer.ggml.merges", ["a b c", "\x1b[31m"]),
        ("tokenizer.ggml.model", "\x1b]0;x" * 99),
        ("tokenizer.ggml.pre", ["x"]),
        ("tokenizer.ggml.pre", "y" * 10_000),
        ("tokenizer.ggml.eos_token_id", "none"),
        ("tokenizer.chat_template", "{% for x in range(10**9) %}{% endfor %}"),
        ("tokenizer.chat_template", 7),
    ],
    ids=repr,
)
def test_a_hostile_vocabulary(
    key: str, value: Any, store: ModelStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.storage.gguf_file import GgufFile

    class Changed(GgufFile):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self.metadata[key] = value

    monkeypatch.setattr("learning.models.import_export.GgufFile", Changed)
    try:
        import_model(store, file)
    except VidyaError as error:
        assert "\n" not in error.what and len(error.what) < 1_000
        assert "\x1b" not in error.what
        assert [p.name for p in store.place("").iterdir()] == ["theirs"]
    else:
        assert key.endswith("eos_token_id"), "which is not needed"


def test_a_link_or_pipe_instead_of_a_file(store: ModelStore, tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "none.gguf").symlink_to(tmp_path / "nowhere")
    for name in ("pipe.gguf", "none.gguf", "missing.gguf"):
        with pytest.raises(CheckpointError, match="no whole GGUF file"):
            import_model(store, tmp_path / name)


def test_a_disk_that_is_full_is_told_first(
    store: ModelStore, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.storage.disk.free_bytes", lambda path: 10)
    for work in (
        lambda: import_model(store, file),
        lambda: import_model(store, tmp_path / "theirs", "other"),
        lambda: export_model(store, "theirs", tmp_path / "new.gguf"),
    ):
        with pytest.raises(CheckpointError, match="the disk is full"):
            work()
    assert not (tmp_path / "new.gguf").exists()
    assert [p.name for p in store.place("").iterdir()] == ["theirs"]


def test_a_tokenizer_of_another_kind_is_refused(store: ModelStore, tmp_path: Path) -> None:
    source = folder_of(tmp_path / "theirs", small())
    raw = json.loads((source / "tokenizer.json").read_text())
    raw["model"]["type"] = "Unigram"
    (source / "tokenizer.json").write_text(json.dumps(raw))
    with pytest.raises(CheckpointError, match="no byte-level BPE"):
        import_model(store, source)
    (source / "tokenizer.json").rename(source / "tokenizer.model")
    with pytest.raises(CheckpointError, match="tokenizer.model, of another kind"):
        import_model(store, source)
    shutil.rmtree(source)
    with pytest.raises(CheckpointError, match="is no folder"):
        import_model(store, source)


def test_how_a_model_draws_its_answers_comes_in_and_goes_out(
    tmp_path: Path, store: ModelStore
) -> None:
    source = folder_of(tmp_path / "source", small())
    said = {"do_sample": True, "temperature": 0.6, "top_p": 0.9, "eos_token_id": 2}
    (source / "generation_config.json").write_text(json.dumps(said))
    info = import_model(store, source, "m")
    drawn = store.generation("m").sampling
    assert (drawn.temperature, drawn.top_p, drawn.repetition_penalty) == (0.6, 0.9, 1.0)
    kinds = {file.path.name: file.role for file in home_files(Home(tmp_path / "home"))}
    assert kinds["generation_config.json"] == "model"
    export_model(store, info.name, tmp_path / "out")
    out = json.loads((tmp_path / "out" / "generation_config.json").read_text())
    assert out["temperature"] == 0.6 and out["do_sample"] is True and out["eos_token_id"]
    (source / "generation_config.json").write_text("[]")
    import_model(store, source, "n")
    assert store.generation("n") == Generation()
