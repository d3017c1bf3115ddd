"""`vidya model import` of folders made to do harm: each is refused in one calm line, soon, and leaves
nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.vidya_tui.shell import Shell

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
RANKS, TOKENIZER, CONFIG = "tokenizer.tiktoken", "tokenizer_config.json", "config.json"
CONTROL = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u202e", "\u2066"} - {"\n"}


def change(name: str, **values: Any) -> Callable[[Path], None]:
    """Sets keys of a JSON file."""

    def damage(folder: Path) -> None:
        raw = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**raw, **values}))

    return damage


def text(name: str, content: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(content)

    return damage


def link(name: str, target: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return damage


def pipe(name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return damage


def sparse(name: str) -> Callable[[Path], None]:
    """A terabyte that takes no room."""

    def damage(folder: Path) -> None:
        with (folder / name).open("ab") as file:
            file.truncate(1 << 40)

    return damage


def sharded(*names: str) -> Callable[[Path], None]:
    """An index that names these files, in place of the weights."""

    def damage(folder: Path) -> None:
        (folder / WEIGHTS).unlink()
        weights = {f"w{i}": name for i, name in enumerate(names)}
        (folder / INDEX).write_text(json.dumps({"weight_map": weights}))

    return damage


def deep_index(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    (folder / INDEX).write_text('{"weight_map":' + "[" * 100_000)


def deep_header(folder: Path) -> None:
    header = b"[" * 100_000
    (folder / WEIGHTS).write_bytes(struct.pack("<Q", len(header)) + header)


def scaled(*words: str) -> Callable[[Path], None]:
    """Makes the weights whose names have one of the words huge; each is finite still."""

    def damage(folder: Path) -> None:
        from engine.storage.checkpoint import load_tensors, save_tensors

        tensors, _ = load_tensors(folder / WEIGHTS)
        huge = {
            k: v.float() * (1e20 if any(word in k for word in words) else 1.0)
            for k, v in tensors.items()
        }
        save_tensors(huge, folder / WEIGHTS)

    return damage


def sibling_link(folder: Path) -> None:
    """A link that stays within the folder is one too."""
    (folder / CONFIG).rename(folder / "real.json")
    (folder / CONFIG).symlink_to("real.json")


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "escape sequence in head_dim": (
        change(CONFIG, head_dim="\x1b]0;x\x07\x9b1m\u202e"),
        "head_dim",
    ),
    "escape sequence in model_type": (change(CONFIG, model_type="\x1b[31m\nok"), "model_type"),
    "escape sequence in a width": (change(CONFIG, hidden_size="\x1b[31m\x9b"), "config.json"),
    "escape sequence in the activation": (
        change(CONFIG, hidden_act="\x1b[31m" * 999),
        "hidden_act",
    ),
    "nested config": (text(CONFIG, "[" * 100_000), "nested"),
    "nested value": (change(CONFIG, model_type=json.loads("[" * 90 + "]" * 90)), "nested"),
    "nested index": (deep_index, "nested"),
    "nested tokenizer": (text(TOKENIZER, '{"a":' * 100_000), "nested"),
    "nested header": (deep_header, "no whole safetensors"),
    "pipe as config": (pipe(CONFIG), "no regular file"),
    "pipe as weights": (pipe(WEIGHTS), "no regular file"),
    "pipe as ranks": (pipe(RANKS), "no regular file"),
    "pipe as tokenizer": (pipe(TOKENIZER), "no regular file"),
    "pipe as card": (pipe("CARD.md"), "no regular file"),
    "device as config": (link(CONFIG, "/dev/zero"), "is a link"),
    "device as weights": (link(WEIGHTS, "/dev/zero"), "is a link"),
    "device as ranks": (link(RANKS, "/dev/zero"), "is a link"),
    "device as card": (link("CARD.md", "/dev/zero"), "is a link"),
    "another's secret as card": (link("CARD.md", "/etc/passwd"), "is a link"),
    "dead link as card": (link("CARD.md", "/nowhere"), "is a link"),
    "link within the folder": (sibling_link, "is a link"),
    "folder as config": (lambda f: ((f / CONFIG).unlink(), (f / CONFIG).mkdir())[1], "config.json"),
    "a terabyte of config": (sparse(CONFIG), "bytes"),
    "a terabyte of weights": (sparse(WEIGHTS), "bytes"),
    "a terabyte of ranks": (sparse(RANKS), "bytes"),
    "a terabyte of card": (text("CARD.md", "x"), ""),
    "index that leads out": (sharded("../../secret.safetensors"), "outside"),
    "index that names a device": (sharded("/dev/zero"), "outside"),
    "index that names nothing": (sharded(), "names no files"),
    "index of too many": (sharded(*(f"{i}.safetensors" for i in range(2000))), "more than 1000"),
    "index with an escape sequence": (sharded("\x1b[31m.safetensors"), "cannot be read"),
    "pattern that panics": (change(TOKENIZER, pattern=r"(?:a|a)*(?!a)b|\s"), "pattern"),
    "pattern that is none": (change(TOKENIZER, pattern="("), "pattern"),
    "pattern that is a list": (change(TOKENIZER, pattern=["x"]), "pattern"),
    "ranks of no vidya": (text(RANKS, "AA== 0\n"), "single byte"),
    "huge norm": (scaled("model.norm"), "so large"),
    "huge values": (scaled("v_proj"), "so large"),
    "huge queries": (scaled("q_proj"), "so large"),
    "huge layer": (scaled("down_proj"), "so large"),
    "memory for a galaxy": (change(CONFIG, num_hidden_layers=10**9), "of memory"),
    "table for a galaxy": (
        change(CONFIG, max_position_embeddings=1 << 20, num_attention_heads=1, hidden_size=4096),
        "config",
    ),
    "shape of another": (change(CONFIG, intermediate_size=1000), "does not fit"),
    "infinite width": (
        text(CONFIG, '{"model_type": "llama", "hidden_size": 1e999}'),
        "config.json",
    ),
}
HOSTILE["a terabyte of card"] = (
    lambda folder: (text("CARD.md", "x")(folder), sparse("CARD.md")(folder))[1],
    "bytes",
)


@pytest.fixture
def folder(shell: Shell, tmp_path: Path) -> Path:
    """A valid model from another program."""
    return Path(shutil.copytree(shell.home.models_path / "tiny", tmp_path / "theirs"))


def test_the_good_folder_is_taken(shell: Shell, folder: Path) -> None:
    (folder / "CARD.md").write_text("# theirs\n")
    shell.run("model", "import", str(folder))
    assert (shell.home.models_path / "theirs" / "CARD.md").read_text() == "# theirs\n"
    assert shell.rows("ask", "hello", "-n", "1", "--model", "theirs")[-1]["event"] == "done"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_folder_is_refused(shell: Shell, folder: Path, name: str) -> None:
    damage, words = HOSTILE[name]
    damage(folder)
    started = time.monotonic()
    said = shell.fails("model", "import", str(folder))
    assert time.monotonic() - started < 60.0
    assert words in said
    assert len(said) < 2_000
    assert sorted(p.name for p in shell.home.models_path.iterdir()) == ["tiny"], "nothing is left"


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("adapter_config.json", "holds an adapter without its model; import the whole model"),
        ("notes.txt", "is no model, it has no config.json; give the folder of a Llama"),
    ],
)
def test_a_folder_without_a_model_is_told(
    shell: Shell, tmp_path: Path, file: str, words: str
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / file).write_text("{}")
    said = shell.fails("model", "import", str(tmp_path / "theirs"))
    assert words in said and "cannot be read" not in said


def test_weights_that_are_cut_short_are_to_be_copied_again(shell: Shell, folder: Path) -> None:
    os.truncate(folder / "model.safetensors", 1_000)
    said = shell.fails("model", "import", str(folder))
    assert "is no whole safetensors file" in said and "rollback" not in said
    assert said.endswith("; copy or download the model again")


def test_huge_weights_that_are_used_in_place_are_told_when_it_is_asked(
    shell: Shell, folder: Path
) -> None:
    scaled("model.norm", "embed")(folder)
    said = shell.fails("ask", "hello", "-n", "1", "--model", str(folder))
    assert "beyond all bounds" in said


def test_what_a_killed_import_left_is_removed_by_the_next_one(shell: Shell, folder: Path) -> None:
    models = shell.home.models_path
    for name, age in ((".other.999999999", 3600), (".young.999999998", 1), (".x.1.y", 3600)):
        (models / name).mkdir()
        (models / name / WEIGHTS).write_bytes(b"x")
        for path in (models / name / WEIGHTS, models / name):
            os.utime(path, (time.time() - age,) * 2)
    shell.run("model", "import", str(folder))
    left = sorted(p.name for p in models.iterdir())
    assert left == sorted([".young.999999998", ".x.1.y", "theirs", "tiny"])
