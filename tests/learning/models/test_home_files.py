"""Every file of a home is known by its role."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.storage.checkpoint_files import WEIGHTS
from engine.storage.files import write_atomically
from learning.distillation.job import ANSWERS
from learning.memory.caches import TRUNK, WATCH
from learning.models.files import REFERENCE, TALK
from learning.models.home_files import home_files, problems
from learning.models.store import ModelStore
from tests.learning.conftest import Place

ROOT = Path(__file__).parents[3]


def roles(place: Place) -> dict[str, str]:
    home = place[0]
    return {str(file.path.relative_to(home.path)): file.role for file in home_files(home)}


def test_a_home_in_use_has_no_unknown_file(tiny_place: Place) -> None:
    home, folder, _ = tiny_place
    for path in (home.book_path, home.settings_path, home.unsent_path, home.first_frame_path):
        write_atomically(path, "")
    home.log_path.touch()
    home.welcomed_path.touch()
    with home.lock(), home.learning():
        pass
    (folder / "snapshots").mkdir()
    shutil.copy(folder / WEIGHTS, folder / "snapshots" / "00000000.safetensors")
    shipped = ModelStore(home).resolve("10m-base")
    assert shipped.parent == home.models_path
    (folder / "cache").mkdir()
    found = roles(tiny_place)
    assert "unknown" not in found.values() and "leftover" not in found.values()
    assert found["models/tiny/snapshots/00000000.safetensors"] == "snapshot"
    assert found["models/10m-base/record.json"] == "pretraining"
    home.path.chmod(0o700)
    assert problems(home) == []


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("notes.txt", "unknown"),
        ("below/notes.txt", "unknown"),
        ("models/notes.txt", "unknown"),
        ("models/tiny/other.safetensors", "unknown"),
        ("models/tiny/below/other.safetensors", "unknown"),
        ("models/tiny/snapshots/mine.safetensors", "unknown"),
        ("models/tiny/snapshots/below/00000001.safetensors", "unknown"),
        ("models/other/tokenizer.json", "model"),
        ("models/other/chat_template.jinja", "model"),
        ("models/other/chat.json", "model"),
        (f"models/tiny/{TALK}", "derived"),
        (f"models/tiny/{WATCH}", "derived"),
        (f"models/tiny/{REFERENCE}", "derived"),
        (f"models/tiny/{TRUNK}", "derived"),
        (f"models/tiny/{ANSWERS}", "derived"),
        ("models/tiny/snapshots/00000001.new", "leftover"),
        ("models/tiny/.tmpAbCdEf", "leftover"),
        ("journal.sqlite3.before-3", "journal copy"),
        ("journal.sqlite3.before-3.part", "leftover"),
        ("journal.sqlite3-wal", "journal"),
        ("vidya.log.old", "log"),
        ("exports/below/mine.md", "export"),
    ],
)
def test_what_lies_there_is_known_by_its_place(tiny_place: Place, name: str, role: str) -> None:
    path = tiny_place[0].path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    assert roles(tiny_place)[name] == role


def test_problems_name_what_should_not_be_there(tiny_place: Place) -> None:
    home, folder, _ = tiny_place
    (folder / "snapshots").mkdir()
    half = folder / "snapshots" / "00000004.safetensors"
    half.write_bytes((folder / WEIGHTS).read_bytes()[:9000])
    (folder / "snapshots" / "mine.safetensors").touch()
    (folder / ".tmpAbCdEf").touch()
    (folder / "training.safetensors").touch()
    (home.path / "notes").touch()
    home.path.chmod(0o755)
    home.book_path.touch(mode=0o644)
    home.book_path.chmod(0o644)
    said = "\n".join(map(str, problems(home)))
    for name, why in {
        "00000004.safetensors": "no whole safetensors file",
        "mine.safetensors": "by its name",
        ".tmpAbCdEf": "stopped while it wrote this",
        "training.safetensors": "belongs to no training",
        "notes": "none of vidya's files",
        "book.txt": "others can read it; `chmod 600",
    }.items():
        assert any(f"/{name}: " in line and why in line for line in said.splitlines()), name
    assert len(said.splitlines()) == 6


def test_a_link_to_a_model_is_looked_into_and_others_are_not(tiny_place: Place) -> None:
    home, folder, _ = tiny_place
    elsewhere = shutil.copytree(folder, home.path.with_name("elsewhere"))
    (home.models_path / "linked").symlink_to(elsewhere)
    (home.path / "away").symlink_to(home.path.parent)
    found = roles(tiny_place)
    assert found["models/linked/model.safetensors"] == "weights" and found["away"] == "unknown"
