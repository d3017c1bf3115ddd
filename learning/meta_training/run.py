"""A whole run: reads a base, measures, trains, writes the adapter, measures again.

The folder of the result has the adapter as it was last saved, `half/` with that of half of the time, and
`log.txt`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.errors import CheckpointError, ConfigError
from engine.storage.adapter_files import ADAPTER_CONFIG
from engine.storage.checkpoint import load_config, load_model
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder
from engine.storage.reading import read_json
from engine.tokenizers.load import load_tokenizer
from engine.tokenizers.tokenizer import Tokenizer
from learning.meta_training.factors import start_adapters
from learning.meta_training.feed import Feed, FeedSource
from learning.meta_training.kept_rows import OWN_ANSWERS, OWN_OF_SMALL, KeptRows
from learning.meta_training.loop import OuterLoop, RunClock
from learning.meta_training.losses import reference_of
from learning.meta_training.measure import Exam, report
from learning.meta_training.network import MergedNetwork
from learning.meta_training.own_answers import more_own_answers
from learning.meta_training.reading import margins
from learning.meta_training.settings import MetaSettings

LOG, HALF = "log.txt", "half"
LONGEST_CONTEXT = 2_048
"""Most ids of an example."""
SHORTEST_CONTEXT = 512
"""A model with fewer has no room for a conversation about a life."""
WEAK = 0.5
"""A line of the book with a smaller margin, in logits, comes oftener."""
LAST_MEASURE = 40.0
"""Seconds for the measure at the end where there is none at the start."""


@dataclass(frozen=True)
class MetaBase:
    """What a run begins with."""

    folder: Path
    tokenizer: Tokenizer
    context: int
    """Most ids of an example."""
    adapter: Path | None
    """The folder of the adapter to begin with; None: a new one."""

    @property
    def own(self) -> Path | None:
        """The file of the base's own words, if the adapter's folder has one."""
        path = self.adapter / OWN_ANSWERS if self.adapter else None
        return path if path and path.exists() else None

    @property
    def called(self) -> str:
        """The name of the model that the adapter is for; "" if it is not known."""
        try:
            raw = read_json(self.adapter / ADAPTER_CONFIG) if self.adapter else {}
        except (OSError, ValueError):
            return ""
        return str(raw.get("base_model_name_or_path") or "") if isinstance(raw, dict) else ""


def read_base(folder: Path, adapter: Path | None) -> MetaBase:
    """Raises CheckpointError if the folder is missing or has no model with a chat format, and ConfigError if
    its context is too short."""
    advice = "give the folder of a model that `vidya model import` made"
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: is no folder", advice)
    config, tokenizer = load_config(folder), load_tokenizer(folder)
    if tokenizer.vocab_size > config.vocab_size:
        raise CheckpointError(
            f"{folder}: the tokenizer has {tokenizer.vocab_size} ids, the model {config.vocab_size}",
            advice,
        )
    if config.context < SHORTEST_CONTEXT:
        raise ConfigError(
            f"{folder}: its context is {config.context} tokens",
            f"choose a model with at least {SHORTEST_CONTEXT}",
        )
    return MetaBase(folder, tokenizer, min(LONGEST_CONTEXT, config.context), adapter)


def device_of(name: str) -> torch.device:
    """cuda or cpu. Raises ConfigError if this machine has no such device."""
    if name not in ("cuda", "cpu"):
        raise ConfigError(f"--device {name}", "give cuda or cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("--device cuda: there is no GPU for torch", "give --device cpu")
    return torch.device(name)


def meta_train(
    base: MetaBase,
    out: Path,
    settings: MetaSettings,
    device: torch.device,
    say: Callable[[str], None] = print,
) -> None:
    """Trains an adapter and writes it. out: a new or empty folder. say: called with each line of the log.

    Raises CheckpointError if `out` is not empty or cannot be written, or if the base or its adapter cannot be
    read; DataError for a bad file of lessons. Ctrl+C ends the steps early; the adapter is written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CheckpointError(f"{out}: is not empty", "name a new folder")
    clock, most_own = RunClock(settings.seconds), OWN_OF_SMALL if settings.small else None
    kept = KeptRows.of(
        base.tokenizer,
        base.context,
        base.own,
        most_own=most_own,
        conversations=settings.conversations,
    )
    exam = Exam(kept, settings.facts, settings.questions)
    model = load_model(base.folder).requires_grad_(False)
    adapters = start_adapters(model, base.adapter, settings.seed)
    try:
        make_private_folder(out)
        log = (out / LOG).open("a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise CheckpointError(*unwritable(out, error, "choose another folder")) from error

    def tell(text: str) -> None:
        line = f"[{clock.passed:6.1f}] {text}"
        say(line)
        log.write(f"{line}\n")

    source = FeedSource(base.folder, base.own, base.context, settings)
    with log, Feed(source, kept, device) as feed:
        tell(f"{base.folder} on {device}, torch {torch.__version__}, {settings}")
        torch.manual_seed(settings.seed)
        if device.type == "cuda":
            torch.backends.cuda.enable_cudnn_sdp(False)  # it would plan anew for every shape
        network = MergedNetwork(model, adapters, base.tokenizer.chat.start, device)
        del model
        _Run(base, out, settings, clock, kept, exam, network, feed, tell).run()


@dataclass
class _Run:
    base: MetaBase
    out: Path
    settings: MetaSettings
    clock: RunClock
    kept: KeptRows
    exam: Exam
    network: MergedNetwork
    feed: Feed
    say: Callable[[str], None]

    def run(self) -> None:
        """All of it, with the feed started."""
        kept, network, settings = self.kept, self.network, self.settings
        count = sum(factor.numel() for factor in network.factors.all())
        network.merge(bare=True)
        if not settings.small:
            kept.own += more_own_answers(network, kept.writer)
        reference, held = reference_of(network, [*kept.own, *kept.conversations])
        kept.own, kept.conversations = held[: len(kept.own)], held[len(kept.own) :]
        network.merge()
        self.say(
            f"rows: book {len(kept.book)}, everyday talk {len(kept.everyday)}, the base's own words "
            f"{len(kept.own)}, people's conversations {len(kept.conversations)}; trained numbers: "
            f"{count:,}"
        )
        reserve = LAST_MEASURE
        if settings.measure_first:
            reserve = 1.25 * self._measure("at the start") + 6.0
        reserve = min(reserve, 0.2 * settings.seconds)  # if that is too short, the end comes later
        self._weak()
        loop = OuterLoop(network, reference, settings, self.say)
        self.feed.begin()
        try:
            loop.run(self.feed, self.clock, reserve, self._save_between)
        except KeyboardInterrupt:
            self.say("interrupted")
        network.drop_gradients()
        network.factors.round(torch.float16)
        network.merge()
        self._save(self.out)
        self.say(f"ended, steps taken: {loop.steps}; written to {self.out}")
        self._measure("at the end")
        if network.device.type == "cuda":
            peak = torch.cuda.max_memory_allocated(network.device) / 2**30
            self.say(f"peak of the GPU's memory: {peak:.1f} GiB")

    def _measure(self, when: str) -> float:
        """Seconds that it took."""
        started = time.monotonic()
        for line in report(self.exam.measure(self.network)):
            self.say(f"{when}, {line}")
        return time.monotonic() - started

    def _save_between(self, through: float) -> None:
        self._save(self.out)
        if through > 0.5 and not (self.out / HALF).exists():
            self._save(self.out / HALF)
        wrong, weak = self._weak()
        self.say(f"saved; lines of the book that are wrong: {wrong}, or weak: {weak}")

    def _weak(self) -> tuple[int, int]:
        """(lines of the book that are wrong, those that are weak or wrong); the latter come oftener."""
        found = margins(self.network, self.kept.book)
        pairs = zip(self.kept.book, found, strict=True)
        self.feed.weak = [row for row, margin in pairs if margin < WEAK]
        return sum(margin <= 0.0 for margin in found), len(self.feed.weak)

    def _save(self, folder: Path) -> None:
        self.network.factors.save(folder, self.base.called)
