"""The house stands: who may import whom, what loads no torch and no Textual, how large rooms and files
are.

Imports are read, not run, so that one that stands inside a function counts too.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOPS: dict[str, set[str]] = {
    "vidya_tui": {"vidya_tui", "learning", "engine", "personality"},
    "learning": {"learning", "engine", "personality"},
    "engine": {"engine"},
    "personality": {"personality"},
    "benchmarks": {"benchmarks", "vidya_tui", "learning", "engine", "personality"},
}
"""vidya_tui -> learning -> engine, and the text of the personality, which imports nothing."""
MEMORY = {"objectives", "models", "book", "journal", "data", "text", "protocol", "maths", "home"}
BELOW_TEACHER = MEMORY | {
    "memory",
    "book",
    "lessons",
    "book_training",
    "practice",
    "rewards",
    "channels",
}
LEARNING: dict[str, set[str]] = {
    "protocol": set(),
    "text": set(),
    "maths": set(),
    "command_line": set(),
    "home": {"protocol"},
    "channels": {"maths", "protocol"},
    "journal": {"channels", "protocol", "text"},
    "data": {"protocol", "text"},
    "book": {"journal", "protocol", "text"},
    "models": {"journal", "protocol", "home"},
    "objectives": {"agents", "data", "maths"},
    "agents": {"maths"},
    "rewards": {"data", "maths", "models", "objectives", "journal", "protocol", "text"},
    "envs": {"agents", "rewards"},
    "curriculum": {"maths", "objectives"},
    "memory": MEMORY,
    "evaluate": {"data", "text", "objectives"},
    "checkup": MEMORY | {"memory"},
    "lessons": MEMORY | {"memory"},
    "book_training": MEMORY | {"memory"},
    "pretraining": MEMORY | {"memory", "command_line", "curriculum"},
    "encoder_training": {"command_line", "data", "maths", "models", "text"},
    "practice": MEMORY | {"agents", "curriculum", "envs", "memory", "rewards"},
    "distillation": MEMORY | {"memory"},
    "meta_training": MEMORY | {"memory", "lessons", "command_line"},
    "teacher": BELOW_TEACHER,
}
"""Room of learning -> the rooms that it may import besides itself; lower storeys first."""
BENCHMARKS: dict[str, set[str]] = {
    "common": set(),
    "baselines": set(),
    "app": {"common"},
    "crashes": {"common"},
    "agents": {"common"},
    "checking": {"common"},
    "talking": {"common"},
    "models": {"common", "talking"},
    "lessons": {"common", "baselines", "talking"},
    "facts": {"common", "baselines", "talking", "lessons"},
    "likes": {"common", "talking", "lessons"},
    "practising": {"common", "crashes", "talking", "lessons"},
}
"""Room of benchmarks -> the rooms that it may import besides itself; lower storeys first."""
INTERFACE: list[set[str]] = [
    {"text"},
    {"terminal", "settings", "worker"},
    {"commands", "session", "options"},
    {"state"},
    {"widgets", "controller"},
    {"screens", "line_mode"},
    {"app"},
    {"start"},
    {"cli"},
    {"server"},
    {"__main__"},
]
"""Storeys of vidya_tui from below; a room imports from storeys below its own."""
TABLES = {"learning": LEARNING, "benchmarks": BENCHMARKS}
ALSO_MAY: dict[str, set[str]] = {"vidya_tui/cli/bench.py": {"benchmarks"}}
"""Single files that may import more."""
NO_TEXTUAL = ("session", "state", "controller", "line_mode", "commands", "settings", "text")
"""Rooms of vidya_tui that load neither Textual nor Rich."""
TORCH_FREE = [
    "learning.channels",
    "learning.curriculum.settings",
    "learning.home",
    "learning.book.check",
    "learning.book.owner_book",
    "learning.journal.journal",
    "learning.journal.lesson_list",
    "learning.journal.practices",
    "learning.maths.discounting",
    "learning.models.known",
    "learning.practice.options",
    "learning.practice.record",
    "learning.protocol.events",
    "learning.protocol.messages",
    "learning.protocol.records",
    "learning.protocol.requests",
    "learning.rewards.registry",
    "learning.rewards.reward_data",
    "learning.rewards.reward_report",
    "learning.rewards.task",
    "learning.text.paraphrases",
    "personality.book",
    "engine.config",
    "engine.errors",
]
"""Modules of learning and engine that the interface loads."""
DEFINE = ("vidya_tui", "learning", "benchmarks", "baselines")
"""Packages whose __init__.py may define something."""
MOST_FILES = 20
"""Of code in one folder, __init__.py left out."""
MOST_LINES = 400
SAME_NAME_ALLOWED: set[str] = set()
"""Public class names that may mean two things."""


parsed = cache(ast.parse)
"""The tree of a source text; each file is asked about by several tests."""


@cache
def statements(source: str) -> list[ast.Import | ast.ImportFrom]:
    """Every import, wherever in the file it stands."""
    nodes = ast.walk(parsed(source))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(source: str, top: str) -> Iterator[tuple[int, str]]:
    """(line, module) of every import."""
    for node in statements(source):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif node.level or node.module is None:
            yield node.lineno, f"{top}.{node.module or ''}"
        elif "." not in node.module:  # `from learning import channels`
            for name in node.names:
                yield node.lineno, f"{node.module}.{name.name}"
        else:
            yield node.lineno, node.module


def room_of(module: str) -> str:
    """learning.memory.replay -> memory; "" for the package itself."""
    return module.split(".")[1] if "." in module else ""


def wrong_imports(file: str, source: str) -> list[str]:
    """Imports of a file that the tables forbid, as `file:line imports module`."""
    top = file.split("/")[0]
    room = "" if file.count("/") == 0 else file.split("/")[1].removesuffix(".py")
    storey = {name: floor for floor, names in enumerate(INTERFACE) for name in names}
    found = []
    for line, module in imports(source, top):
        other = module.split(".")[0]
        if other not in TOPS or other in ALSO_MAY.get(file, ()):
            continue
        wrong = other not in TOPS[top]
        target = room_of(module)
        if other == top and target not in ("", room, "__init__", "__version__"):
            if top in TABLES:
                own = top == "benchmarks" and target not in BENCHMARKS  # its __init__.py's
                wrong = not own and target not in TABLES[top].get(room, ())
            elif top == "vidya_tui":
                wrong = storey.get(target, 99) >= storey.get(room, -1)
        if wrong:
            found.append(f"{file}:{line} imports {module}")
    return found


def files() -> list[Path]:
    return sorted(file for top in TOPS for file in (ROOT / top).rglob("*.py"))


def test_imports_go_down_only() -> None:
    faults = [
        fault
        for file in files()
        for fault in wrong_imports(
            file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        )
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("engine/model.py", "def f():\n    from learning.protocol.records import Turn"),
        ("engine/model.py", "import personality.book as book"),
        ("learning/home.py", "if True:\n    import vidya_tui.session.session"),
        ("learning/objectives/grpo.py", "from learning.memory.replay import Replay"),
        ("learning/lessons/undo.py", "from learning.practice import run"),
        ("learning/channels.py", "from learning import evaluate"),
        ("learning/unknown/new.py", "from learning.maths.kl import kl_divergence"),
        ("personality/book.py", "from engine import errors"),
        ("vidya_tui/cli/train.py", "from benchmarks import find"),
        ("benchmarks/common/report.py", "from benchmarks.talking.talk_data import load"),
        ("vidya_tui/controller/edits.py", "from vidya_tui.widgets.prompt import Prompt"),
        ("vidya_tui/session/session.py", "from vidya_tui.state import notes"),
    ],
)
def test_a_forbidden_import_is_seen(file: str, source: str) -> None:
    assert len(wrong_imports(file, source)) == 1


def module_of(file: Path) -> str:
    """learning/memory/replay.py -> learning.memory.replay"""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


@cache
def graph() -> dict[str, set[str]]:
    """Module -> the modules that it imports, wherever in the file, for types alone too. Packages are left
    out: a room's __init__.py defines nothing."""
    sources = {module_of(file): file for file in files() if file.name != "__init__.py"}
    found = {}
    for module, file in sources.items():
        source = file.read_text("utf-8")
        names = {name for _, name in imports(source, module.split(".")[0])}
        for node in statements(source):
            if isinstance(node, ast.ImportFrom):  # `from learning.practice import run`
                names |= {f"{node.module}.{name.name}" for name in node.names}
        found[module] = names & sources.keys()
    return found


def circle(modules: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle; empty if there are none."""
    try:
        TopologicalSorter(modules).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle(graph()) == []


def test_a_circle_is_seen() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}
    assert "learning.practice.run" in graph()["learning.practice.request"]


def test_every_room_is_in_a_table() -> None:
    rooms = {
        top: {
            path.stem
            for path in (ROOT / top).iterdir()
            if (path.is_dir() and any(path.glob("*.py"))) or path.suffix == ".py"
        }
        - {"__init__", "__pycache__"}
        for top in ("learning", "vidya_tui", "benchmarks")
    }
    assert rooms["learning"] == set(LEARNING)
    assert rooms["benchmarks"] == set(BENCHMARKS)
    assert rooms["vidya_tui"] == set().union(*INTERFACE)


def test_rooms_have_a_description_and_define_nothing() -> None:
    faults = []
    for file in files():
        if file.name != "__init__.py" or file.relative_to(ROOT).parts[0] not in (
            "learning",
            "vidya_tui",
            "benchmarks",
        ):
            continue
        body = parsed(file.read_text("utf-8")).body
        only_text = all(isinstance(node, ast.Expr) for node in body)
        if not body or not (only_text or file.parent.name in DEFINE):
            faults.append(str(file.relative_to(ROOT)))
    assert not faults, "\n".join(faults)


def test_no_room_and_no_file_is_too_large() -> None:
    crowd = Counter(
        str(file.parent.relative_to(ROOT)) for file in files() if file.name != "__init__.py"
    )
    faults = [f"{room}: {count} files" for room, count in crowd.items() if count > MOST_FILES]
    for file in files():
        lines = file.read_text("utf-8").count("\n")
        if lines > MOST_LINES:
            faults.append(f"{file.relative_to(ROOT)}: {lines} lines")
    assert not faults, "\n".join(faults)


def test_a_class_name_means_one_thing() -> None:
    where = defaultdict(list)
    for file in files():
        if file.relative_to(ROOT).parts[0] == "benchmarks":
            continue
        for node in parsed(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                where[node.name].append(str(file.relative_to(ROOT)))
    twice = {
        name: places
        for name, places in where.items()
        if len(places) > 1 and name not in SAME_NAME_ALLOWED
    }
    assert not twice, twice


def loaded_by(*modules: str) -> set[str]:
    """The contents of sys.modules after these modules are imported in a new process."""
    script = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def modules_of(*rooms: str) -> list[str]:
    """All modules of these rooms of vidya_tui."""
    return sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for room in rooms
        for file in (ROOT / "vidya_tui" / room).rglob("*.py")
        if file.stem != "__init__"
    )


def test_what_the_interface_loads_of_learning_brings_no_torch() -> None:
    loaded = loaded_by(*TORCH_FREE)
    assert set(TORCH_FREE) <= loaded
    assert not {"torch", "numpy", "tiktoken", "safetensors"} & loaded
    assert not {"textual", "rich", "click"} & loaded


def test_session_state_controller_and_line_mode_load_no_textual() -> None:
    loaded = loaded_by(*modules_of(*NO_TEXTUAL))
    assert "vidya_tui.session.session" in loaded
    assert not {"textual", "rich", "torch"} & loaded


def test_no_file_of_the_interface_but_the_workers_brings_torch() -> None:
    names = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in (ROOT / "vidya_tui").rglob("*.py")
        if file.stem not in ("__main__", "__init__")
        and file.relative_to(ROOT).as_posix() != "vidya_tui/worker/main.py"
    ]
    loaded = loaded_by(*sorted(names))
    assert "vidya_tui.session.session" in loaded
    assert "torch" not in loaded
