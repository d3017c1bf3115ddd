"""GGUF files: transformers and we read what we write with the same logits; hostile files are refused."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf.quants import quantize

from engine.config import CONFIGS, ModelConfig, RopeScaling
from engine.errors import CheckpointError, ConfigError, VidyaError
from engine.model import Model
from engine.storage.checkpoint import from_huggingface, to_huggingface
from engine.storage.gguf_file import GgufFile
from engine.storage.gguf_model import KINDS, config_of, weights_of, write_gguf
from engine.tokenizers.exported import gguf_metadata
from engine.tokenizers.ranks import RankTokenizer

IDS = torch.randint(0, 384, (2, 30), generator=torch.Generator().manual_seed(3))
SHAPES: dict[str, dict[str, Any]] = {
    "llama": {},
    "llama, untied, heads of 32": {"tied": False, "head_size": 32},
    "llama, linear rope": {"rope_scaling": RopeScaling("linear", 2.0)},
    "qwen3": {"qk_norm": True, "head_size": 128},
}


def made(config: ModelConfig) -> Model:
    """Weights at which a wrong order of rows shows, in numbers that float16 has."""
    model = Model(config, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.copy_(weight.mul(5.0).half())
            else:
                weight.normal_(1.0, 0.2, generator=generator)
    return model


def written(model: Model, path: Path, kind: str, metadata: dict[str, Any] | None = None) -> None:
    state = to_huggingface(model.state_dict(), model.config)
    write_gguf(path, model.config, state, kind, metadata or {})


def read(path: Path) -> Model:
    file = GgufFile(path)
    config = config_of(file)
    model = Model(config)
    tensors = {k: v.float() for k, v in weights_of(file, config).items()}
    model.load_state_dict(from_huggingface(tensors, config))
    return model


@pytest.fixture(params=SHAPES)
def model(request: pytest.FixtureRequest, tiny_tokenizer: RankTokenizer) -> Model:
    config = replace(CONFIGS["tiny"], vocab_size=tiny_tokenizer.vocab_size)
    return made(replace(config, **SHAPES[request.param]))


@torch.no_grad()
def test_float16_is_exact_there_and_back(model: Model, tmp_path: Path) -> None:
    written(model, tmp_path / "a.gguf", "f16")
    again = read(tmp_path / "a.gguf")
    assert again.config == model.config
    assert torch.equal(again(IDS), model(IDS))


@torch.no_grad()
def test_transformers_reads_what_we_write(
    model: Model, tiny_tokenizer: RankTokenizer, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    if model.config.rope_scaling:
        pytest.skip("transformers does not read a file's scaling")
    written(model, tmp_path / "a.gguf", "f32", gguf_metadata(tiny_tokenizer, 384))
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path, gguf_file="a.gguf", dtype=torch.float32
    )
    torch.testing.assert_close(model(IDS), theirs(IDS).logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_every_kind_is_close(kind: str, tmp_path: Path) -> None:
    model = made(CONFIGS["tiny"])
    written(model, tmp_path / "a.gguf", kind)
    expected = model(IDS)
    assert (read(tmp_path / "a.gguf")(IDS) - expected).abs().max() < 0.03 * expected.abs().max()


def test_a_weight_that_has_no_blocks_is_written_in_float16(tmp_path: Path) -> None:
    model = made(replace(CONFIGS["tiny"], hidden=100))
    written(model, tmp_path / "a.gguf", "q8_0")
    kinds = {name: entry.kind for name, entry in GgufFile(tmp_path / "a.gguf").tensors.items()}
    assert kinds["blk.0.ffn_down.weight"] == 1 and kinds["blk.0.ffn_up.weight"] == 8


def file_of(
    path: Path, array: Any, kind: gguf.GGMLQuantizationType | None = None, **pairs: Any
) -> GgufFile:
    """A file with one tensor, `x`."""
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in pairs.items():
        writer.add_key_value(key, *value)
    writer.add_tensor("x", array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return GgufFile(path)


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "BF16", "F16"])
def test_quantised_blocks(name: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 64)).astype(np.float32)
    kind = gguf.GGMLQuantizationType[name]
    found = file_of(tmp_path / "a.gguf", quantize(rows, kind), kind).array("x")
    assert found.shape == rows.shape
    assert np.abs(found - rows).max() < (0.3 if "4" in name or "5" in name else 0.03)


@pytest.mark.parametrize("name", ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS"])
def test_blocks_of_256(name: str, tmp_path: Path) -> None:
    """The package cannot make these; of zeros it must make zeros, in the right shape."""
    kind = gguf.GGMLQuantizationType[name]
    _, size = gguf.GGML_QUANT_SIZES[kind]
    found = file_of(tmp_path / "a.gguf", np.zeros((3, 2 * size), np.uint8), kind).array("x")
    assert found.shape == (3, 512) and not found.any()


def test_a_quantisation_that_nobody_reads_is_named(tmp_path: Path) -> None:
    kind = gguf.GGMLQuantizationType.Q8_K
    _, size = gguf.GGML_QUANT_SIZES[kind]
    file = file_of(tmp_path / "a.gguf", np.zeros((3, size), np.uint8), kind)
    with pytest.raises(CheckpointError, match="Q8_K"):
        file.array("x")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A whole model's file."""
    path = tmp_path_factory.mktemp("gguf") / "good.gguf"
    written(made(CONFIGS["tiny"]), path, "f16", {"tokenizer.ggml.model": "gpt2"})
    return path.read_bytes()


def packed(layout: str, place: int, value: int) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        size = struct.calcsize(layout)
        return data[:place] + struct.pack(layout, value) + data[place + size :]

    return damage


def pair(key: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value


def only(*pairs: bytes) -> Callable[[bytes], bytes]:
    """A file of nothing but metadata."""
    header = gguf_header(len(pairs))
    return lambda data: header + b"".join(pairs)


def gguf_header(pairs: int) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, pairs)


def array(of: int, count: int, data: bytes = b"") -> bytes:
    return struct.pack("<IQ", of, count) + data


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda data: b"", "no whole GGUF"),
    "four bytes": (lambda data: b"GGUF", "no whole GGUF"),
    "another format": (lambda data: b"PK\x03\x04" + data, "does not begin"),
    "cut in the header": (lambda data: data[:300], "it ends within"),
    "cut in a tensor": (lambda data: data[:-1000], "it ends within"),
    "version of tomorrow": (packed("<I", 4, 9), "version 9"),
    "big-endian": (packed(">I", 4, 3), "version"),
    "tensors without end": (packed("<Q", 8, 1 << 62), "counts"),
    "pairs without end": (packed("<Q", 16, 1 << 62), "counts"),
    "a key without end": (packed("<Q", 24, 1 << 63), "text of"),
    "an array without end": (only(pair("x", 9, array(0, 1 << 62))), "array of"),
    "an array that is not there": (only(pair("x", 9, array(10, 1 << 20))), "it ends within"),
    "empty texts without end": (only(pair("x", 9, array(8, 1 << 21, bytes(800)))), "it ends"),
    "arrays in arrays": (only(pair("x", 9, array(9, 1, array(9, 1)))), "type 9"),
    "a type that is none": (only(pair("x", 77, b"")), "type 77"),
    "bytes that are no text": (only(pair("x", 8, struct.pack("<Q", 2) + b"\xff\xfe")), "UTF-8"),
    "an alignment of nothing": (
        only(pair("general.alignment", 4, struct.pack("<I", 0))),
        "alignment",
    ),
    "an alignment in words": (
        only(pair("general.alignment", 8, struct.pack("<Q", 1) + b"x")),
        "alignment",
    ),
    "one part of many": (only(pair("split.count", 2, struct.pack("<H", 3))), "several parts"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str, good: bytes, tmp_path: Path) -> None:
    damage, words = HOSTILE[name]
    path = tmp_path / "a.gguf"
    path.write_bytes(damage(good))
    with pytest.raises(CheckpointError) as caught:
        GgufFile(path)
    assert words in caught.value.what and "\n" not in caught.value.what


@pytest.mark.parametrize("step", [13, 101])
def test_cut_anywhere(good: bytes, tmp_path: Path, step: int) -> None:
    """A file truncated anywhere raises a VidyaError and nothing else."""
    path = tmp_path / "a.gguf"
    for end in range(0, 3000, step):
        path.write_bytes(good[:end])
        with pytest.raises(VidyaError):
            GgufFile(path)


def test_any_byte_changed(good: bytes, tmp_path: Path) -> None:
    """A file with a wrong byte is read, or refused in our own words; nothing else."""
    path = tmp_path / "a.gguf"
    data = bytearray(good)
    for place in range(0, 2500, 7):
        kept, data[place] = data[place], data[place] ^ 0x81
        path.write_bytes(data)
        data[place] = kept
        try:
            file = GgufFile(path)
            weights_of(file, config_of(file))
        except VidyaError as error:
            assert len(error.what) < 1_000


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("general.architecture", ("gpt2", gguf.GGUFValueType.STRING), "'gpt2'"),
        ("general.architecture", (7, gguf.GGUFValueType.UINT32), "architecture is 7"),
        ("llama.block_count", ("x", gguf.GGUFValueType.STRING), "one number"),
        ("llama.attention.head_count", (0, gguf.GGUFValueType.UINT32), "heads"),
        ("llama.attention.value_length", (8, gguf.GGUFValueType.UINT32), "value_length"),
        ("llama.expert_count", (8, gguf.GGUFValueType.UINT32), "experts"),
        ("llama.rope.scaling.type", ("yarn", gguf.GGUFValueType.STRING), "yarn"),
        ("llama.rope.freq_base", (float("nan"), gguf.GGUFValueType.FLOAT32), "rope_theta"),
        ("llama.embedding_length", (1 << 31, gguf.GGUFValueType.UINT32), "layout"),
    ],
)
def test_what_the_metadata_may_not_say(
    good: bytes, key: str, value: tuple[Any, Any], words: str, tmp_path: Path
) -> None:
    (tmp_path / "a.gguf").write_bytes(good)
    file = GgufFile(tmp_path / "a.gguf")
    file.metadata[key] = value[0]
    with pytest.raises(VidyaError) as caught:
        weights_of(file, config_of(file))
    assert words in str(caught.value) or words == "layout"


def test_a_model_without_all_its_weights(good: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(good)
    file = GgufFile(tmp_path / "a.gguf")
    del file.tensors["blk.1.attn_q.weight"]
    with pytest.raises(CheckpointError, match="blk.1.attn_q.weight"):
        weights_of(file, config_of(file))
    del file.tensors["token_embd.weight"]
    with pytest.raises(ConfigError, match="embedding"):
        config_of(file)


def test_frequencies_scaled_one_by_one_are_refused(tmp_path: Path) -> None:
    model = made(replace(CONFIGS["tiny"], rope_scaling=RopeScaling("llama3", 4.0, original=32)))
    written(model, tmp_path / "a.gguf", "f16")
    file = GgufFile(tmp_path / "a.gguf")
    factors = file.array("rope_freqs.weight")
    assert factors.shape == (8,) and factors.max() == pytest.approx(4.0)
    with pytest.raises(ConfigError, match="frequencies"):
        config_of(file)


def test_nothing_is_left_where_a_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gguf.GGUFWriter, "write_tensors_to_file", full)
    with pytest.raises(CheckpointError, match="disk is full"):
        written(made(CONFIGS["tiny"]), tmp_path / "a.gguf", "f16")
    assert list(tmp_path.iterdir()) == []
