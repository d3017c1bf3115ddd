"""The house stands: imports go one way only, and the interface's process has no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "vidya_tui": {"vidya_tui", "learning", "engine", "personality"},
    "learning": {"learning", "engine", "personality"},
    "engine": {"engine"},
    "personality": {"personality"},
    "benchmarks": {"benchmarks", "vidya_tui", "learning", "engine", "personality"},
}
"""vidya_tui -> learning -> engine, and the text of the personality, which imports nothing."""
ALSO_MAY = {"vidya_tui/cli/bench.py": {"benchmarks"}}
"""What single files may import besides."""
TORCH_FREE = [
    "vidya_tui.session.session",
    "vidya_tui.settings.file",
    "learning.journal.journal",
    "learning.channels",
    "learning.home",
    "learning.protocol.events",
    "learning.protocol.messages",
    "learning.protocol.methods",
    "learning.protocol.records",
    "learning.protocol.requests",
    "learning.rewards.task",
    "personality.book",
    "engine.config",
    "engine.errors",
]


def imports(source: str, package: str) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, f"{package}.{node.module}" if node.level else node.module or ""


def wrong_imports(room: str, source: str, file: str = "") -> list[tuple[int, str]]:
    allowed = MAY_IMPORT[room] | ALSO_MAY.get(file, set())
    return [
        (line, module)
        for line, module in imports(source, room)
        if module.split(".")[0] in MAY_IMPORT and module.split(".")[0] not in allowed
    ]


def files() -> list[Path]:
    return sorted(file for room in MAY_IMPORT for file in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("file", files(), ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_go_from_left_to_right_only(file: Path) -> None:
    place = file.relative_to(ROOT)
    assert wrong_imports(place.parts[0], file.read_text(encoding="utf-8"), place.as_posix()) == []


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("engine", "def f():\n    from learning.protocol.records import Turn"),
        ("engine", "import personality.book as book"),
        ("learning", "if True:\n    import vidya_tui.session.session"),
        ("personality", "from engine import errors"),
        ("vidya_tui", "from benchmarks import find"),
    ],
)
def test_an_import_that_runs_back_is_seen(room: str, source: str) -> None:
    assert len(wrong_imports(room, source)) == 1


def test_every_room_is_looked_at() -> None:
    assert {file.relative_to(ROOT).parts[0] for file in files()} == set(MAY_IMPORT)


@pytest.mark.parametrize("module", TORCH_FREE)
def test_what_the_interface_imports_brings_no_torch(module: str) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert module in loaded
    assert not {"torch", "numpy", "tiktoken", "safetensors"} & set(loaded)
    assert not {"textual", "rich", "click"} & set(loaded)


def test_no_file_of_the_interface_but_the_workers_brings_torch() -> None:
    names = sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in (ROOT / "vidya_tui").rglob("*.py")
        if file.stem not in ("worker_main", "__main__", "__init__")
    )
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {', '.join(names)}; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert loaded.returncode == 0, loaded.stderr
    assert "vidya_tui.session.session" in loaded.stdout.split()
    assert "torch" not in loaded.stdout.split()
