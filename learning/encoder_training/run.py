"""A whole run: sentences, the teacher's vectors, the steps, the encoder that is written.

The folder of the result has the encoder, `log.txt`, and what an interrupted run goes on from
(teacher.safetensors, training.safetensors), which may be deleted afterwards.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import torch

from engine.encoder import SentenceEncoder, save_encoder
from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.storage.checkpoint import load_model
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder
from engine.tokenizers.load import load_tokenizer
from learning.data.corpus import data_files
from learning.encoder_training.loop import EncoderLoop, EncoderReport
from learning.encoder_training.sentences import sentences
from learning.encoder_training.settings import EncoderSettings
from learning.encoder_training.teacher import SentenceTeacher, digest_of, kept_vectors
from learning.text.context import question_and_answer
from learning.text.lives import lives

LOG, VECTORS = "log.txt", "teacher.safetensors"
MOST_OF_SOURCE = 70_000
_TOLD_EVERY = 25
_HELD_OUT_LIVES = 20


def train_encoder(
    base: Path,
    teacher: Path,
    text: Sequence[Path],
    out: Path,
    settings: EncoderSettings,
    say: Callable[[str], None] = print,
    read: Callable[[Path], SentenceTeacher] = SentenceTeacher.read,
) -> SentenceEncoder:
    """Trains an encoder from the lower blocks of the model in `base` and writes it to `out`; goes on where an
    earlier run in the same folder ended. teacher: a folder of transformers. text: files and folders of
    the corpus. read: reads the teacher, if its vectors are not kept yet.

    Raises CheckpointError, DataError, ConfigError.
    """
    try:
        make_private_folder(out)
        log = (out / LOG).open("a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise CheckpointError(*unwritable(out, error, "choose another folder")) from error
    began = time.monotonic()

    def tell(line: str) -> None:
        line = f"[{time.monotonic() - began:7.1f}] {line}"
        say(line)
        log.write(f"{line}\n")

    with log:
        rng = random.Random(settings.seed)
        texts = sentences(data_files(text), MOST_OF_SOURCE, rng)
        if len(texts) < settings.sentences:
            raise ConfigError(
                f"--text has {len(texts)} sentences, a step takes {settings.sentences}",
                "name more text, or give smaller --sentences",
            )
        tell(f"{base}, torch {torch.__version__}, {settings}")
        source = _config_text(teacher)
        vectors = kept_vectors(lambda: read(teacher), texts, out / VECTORS, tell, source)
        encoder = new_encoder(base, settings, vectors.shape[1])
        about = digest_of([source, _config_text(base), str(base.resolve()), *texts])
        loop = EncoderLoop(encoder, texts, vectors, settings, about)
        if loop.resume(out):
            tell(f"goes on after step {loop.steps}")

        def save() -> None:
            loop.save(out)
            save_encoder(encoder, out)
            tell(f"written after step {loop.steps}: {_exam(encoder)}")

        reports = list[EncoderReport]()

        def report(one: EncoderReport) -> None:
            reports.append(one)
            if one.step % _TOLD_EVERY == 0:
                tell(_shown(reports))
                reports.clear()

        loop.run(report, save)
    return encoder


def new_encoder(base: Path, settings: EncoderSettings, size: int) -> SentenceEncoder:
    """An untrained encoder of the lower blocks of a model and a random map to `size` numbers. Raises
    CheckpointError."""
    whole, generator = load_model(base), torch.Generator().manual_seed(settings.seed)
    config = replace(whole.config, layers=min(settings.blocks, whole.config.layers))
    with torch.device("meta"):
        model = Model(config)
    kept = set(model.state_dict())
    model.load_state_dict({k: v for k, v in whole.state_dict().items() if k in kept}, assign=True)
    head = torch.randn(size, config.dim, generator=generator) * config.dim**-0.5
    return SentenceEncoder(model, load_tokenizer(base), head).requires_grad_(True)


def _config_text(folder: Path) -> str:
    """The config.json of a folder; empty where there is none, which whoever reads the folder says."""
    path = folder / "config.json"
    return path.read_text("utf-8") if path.is_file() else ""


def _shown(reports: Sequence[EncoderReport]) -> str:
    """The means over some steps, in a line."""
    return (
        f"step {reports[-1].step}: cosine to the teacher {fmean(r.cosine for r in reports):.3f}, "
        f"divergence {fmean(r.divergence for r in reports):.3f} nats, "
        f"contrast {fmean(r.contrast for r in reports):.3f} nats"
    )


def _exam(encoder: SentenceEncoder) -> str:
    """How often the right lesson is the nearest one, for lives that no step sees."""
    rng = random.Random("held out")
    facts = [fact for life in lives(_HELD_OUT_LIVES, rng) for fact in life.facts]
    known = encoder.encode([question_and_answer(fact.question, fact.answer) for fact in facts])
    shares = dict[str, float]()
    for kind in ("rewordings", "paraphrases"):
        asked = [(at, text) for at, fact in enumerate(facts) for text in getattr(fact, kind)]
        nearest = (encoder.encode([text for _, text in asked]) @ known.T).argmax(-1).tolist()
        hits = [near == at for near, (at, _) in zip(nearest, asked, strict=True)]
        shares[kind] = 100 * fmean(hits) if hits else 0.0
    found = ", ".join(f"{share:.1f} % of the {kind}" for kind, share in shares.items())
    return f"the nearest lesson of unseen lives ({len(facts)} in all) is the right one for {found}"
