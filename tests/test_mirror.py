"""tests/ has the folders of the program, and a test file bears the name of the module that it is of."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SCENARIOS = {
    "benchmarks/test_llama_cpp.py": "files that we write, read by llama.cpp",
    "benchmarks/test_options.py": "what benchmarks/__init__.py defines",
    "benchmarks/test_registry.py": "what benchmarks/__init__.py defines",
    "engine/test_architectures.py": "every architecture that can be loaded, against transformers",
    "learning/agents/test_learner_contract.py": "every learner in every small world",
    "learning/agents/test_policy_contract.py": "every policy, and every agent for bandits",
    "learning/envs/test_env_contract.py": "every world for agents",
    "learning/journal/test_crash.py": "a journal whose program is killed",
    "learning/journal/test_full_disk.py": "a home on a disk that is full",
    "learning/lessons/test_another_model.py": "lessons of one model, learned by the next",
    "learning/lessons/test_killed.py": "a learner that is killed in every save",
    "learning/lessons/test_other_architectures.py": "a lesson of models of other architectures",
    "learning/lessons/test_shipped.py": "the model that comes with the program",
    "learning/memory/test_other_formats.py": "a model with another chat format learns and remembers",
    "learning/models/test_real_base.py": "the base that a package has, with the adapter merged in",
    "learning/rewards/test_generated.py": "all tasks that make their own problems",
    "learning/rewards/test_verdicts.py": "two verifiers against tables of verdicts",
    "learning/rewards/test_verdicts_attacked.py": "the same verifiers, attacked",
    "snapshots/test_snapshots.py": "how every screen looks",
    "vidya_tui/app/test_fetching.py": "a download beside the conversation, in the app",
    "vidya_tui/cli/test_every_command.py": "every slash command, typed",
    "vidya_tui/cli/test_hostile.py": "the shell's commands under hard conditions",
    "vidya_tui/cli/test_processes.py": "commands of the README, one after the other",
    "vidya_tui/cli/test_scripts.py": "screens with text in other scripts",
    "vidya_tui/screens/test_worker_gone.py": "screens that wait for a worker which is gone",
    "vidya_tui/test_end_to_end.py": "the whole program in a terminal",
    "vidya_tui/test_monkey.py": "random keys, words, pastes and sizes",
}
"""Tests that are of no single module, and what they are of. Those of the whole program lie in tests/."""


def is_of_a_module(file: Path) -> bool:
    """Whether the test's name begins with that of a module or folder of the mirrored folder, or is what
    several begin with: `test_gguf.py` is of gguf_file.py and gguf_model.py."""
    folder = ROOT / file.parent
    if not folder.is_dir():
        return False
    subject = file.stem.removeprefix("test_")
    names = {one.stem for one in folder.iterdir() if one.suffix == ".py" or one.is_dir()}
    return any(
        f"{subject}_".startswith(f"{name}_") or name.startswith(f"{subject}_") for name in names
    )


def test_every_test_is_of_a_module_or_a_scenario_with_a_reason() -> None:
    files = {path.relative_to(TESTS) for path in TESTS.glob("*/**/test_*.py")}
    astray = [str(file) for file in sorted(files) if not is_of_a_module(file)]
    assert astray == sorted(SCENARIOS), (
        "name the test as its module, in the module's folder, or give it a line of SCENARIOS"
    )


def test_a_test_of_no_module_is_seen() -> None:
    assert is_of_a_module(Path("engine/test_model.py"))
    assert is_of_a_module(Path("engine/test_model_parity.py"))
    assert not is_of_a_module(Path("engine/test_modelled.py"))
    assert not is_of_a_module(Path("nowhere/test_model.py"))
