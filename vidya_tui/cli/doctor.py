"""`vidya doctor`: reports versions, device, speed, and every fault of the home."""

from __future__ import annotations

import platform
import time

import click

from engine.errors import VidyaError
from engine.storage.disk import free_bytes, size
from vidya_tui import __version__
from vidya_tui.cli.common import common, print_json, show
from vidya_tui.options import Options
from vidya_tui.text.numbers import counted


@click.command()
@common
def doctor(options: Options) -> None:
    """Checks the installation, the device and the home, and says what to do about each problem.

    Opens and reads everything in the home. A damaged search index is rebuilt.
    """
    from learning.checkup import check_home
    from learning.models.store import ModelStore

    home = options.home
    free = free_bytes(home.path)
    report: dict[str, object] = {
        "vidya": __version__,
        "python": platform.python_version(),
        "home": str(home.path),
        "free": "unknown" if free is None else size(free),
        **_machine(),
    }
    problems = [str(problem) for problem in check_home(home)]
    models, broken = ModelStore(home).readable()
    report["models"] = [info.name for info in models]
    problems += _settings_problems(options)
    problems += _chosen_problems(options, set(broken), report)
    if home.journal_path.is_file():
        report["journal_bytes"] = home.journal_path.stat().st_size
    report["sandbox"] = _sandbox()
    report["problems"] = problems
    if options.as_json:
        print_json(report)
    else:
        _tell(report, problems)
    if problems:
        number = counted(len(problems), "problem")
        raise VidyaError(number, "see above")


def _tell(report: dict[str, object], problems: list[str]) -> None:
    for key, value in report.items():
        if key != "problems":
            show(f"{key}: {', '.join(value) if isinstance(value, list) else value}")
    for problem in problems:
        show(f"problem: {problem}")
    if not problems:
        show("problems: none")


def _machine() -> dict[str, object]:
    """Torch's version, the device, threads, precision, and the speed of matrix products in GFLOP/s."""
    import torch

    from engine.precision import fast_dtype

    precision = fast_dtype("cpu")
    a = torch.randn(1024, 1024).to(precision)
    started = time.perf_counter()
    for _ in range(10):
        a @ a
    return {
        "torch": torch.__version__,
        "device": "cuda" if torch.cuda.is_available() else "cpu",
        "threads": torch.get_num_threads(),
        "precision": str(precision).removeprefix("torch."),
        "gflops": round(10 * 2 * 1024**3 / (time.perf_counter() - started) / 1e9),
    }


def _settings_problems(options: Options) -> list[str]:
    from vidya_tui.settings.file import load

    path = options.home.settings_path
    if path.exists() and not path.is_file():
        return []  # reported by check_files
    try:
        load(path)
    except VidyaError as error:
        return [str(error)]
    return []


def _chosen_problems(options: Options, broken: set[str], report: dict[str, object]) -> list[str]:
    """Problems of the model in use, if it is outside the home (models in the home are checked already)."""
    from learning.checkup import check_model
    from learning.models.store import ModelStore

    try:
        name = options.model or options.chosen_model
    except (VidyaError, OSError):
        return []  # the settings' error is reported already
    report["model"] = name
    home = options.home
    if name in broken or ("/" not in name and (home.models_path / name).is_dir()):
        return []
    try:
        info = ModelStore(home).info(name)
    except VidyaError as error:
        return [str(error)]
    return [] if info.shipped else [str(problem) for problem in check_model(info.path)]


def _sandbox() -> str:
    from learning.rewards.sandbox.pool import NoSandbox, Sandbox

    try:
        with Sandbox(workers=1):
            return "works"
    except NoSandbox as error:  # only some kinds of practice need it
        return str(error)
