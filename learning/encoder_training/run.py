"""A whole run: sentences, the teacher's vectors, the steps, the encoder that is written.

The folder of the result has the encoder, `log.txt`, and what an interrupted run goes on from
(teacher.safetensors, training.safetensors), which may be deleted afterwards.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.config import ModelConfig
from engine.encoder import ENCODER, MOST_TOKENS, SentenceEncoder, load_encoder, save_encoder
from engine.errors import CheckpointError, ConfigError
from engine.model import Model
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder
from engine.tokenizers.ranks import RankTokenizer
from learning.data.corpus import data_files
from learning.encoder_training.loop import EncoderLoop, EncoderReport
from learning.encoder_training.owners import read_owners
from learning.encoder_training.sentences import of_lives, sentences, words
from learning.encoder_training.settings import EncoderSettings
from learning.encoder_training.teacher import SentenceTeacher, digest_of, kept_vectors
from learning.encoder_training.tokens import token_texts, word_tokenizer
from learning.text.context import question_and_answer
from learning.text.lives import lives

LOG, VECTORS = "log.txt", "teacher.safetensors"
MOST_OF_SOURCE = 70_000
LIVES, MOST_OF_LIVES = 3_000, 120_000
HEADS, KV_HEADS, HEAD_SIZE, HIDDEN = 6, 2, 64, 1_024
"""Of the encoder's blocks; its width is the size of the teacher's vectors."""
SCALE = 8.0
"""Length of a token's first vector. Optimizers move vectors of length 1 too fast."""
_TOLD_EVERY = 25
_HELD_OUT_LIVES = 20


def train_encoder(
    teacher: Path,
    text: Sequence[Path],
    out: Path,
    settings: EncoderSettings,
    say: Callable[[str], None] = print,
    read: Callable[[Path], SentenceTeacher] = SentenceTeacher.read,
    begin: Path | None = None,
    owners: Path | None = None,
) -> SentenceEncoder:
    """Trains an encoder and writes it to `out`; goes on where an earlier run in the same folder ended.
    teacher: a folder of transformers. text: files and folders of the corpus. read: reads the teacher, if its
    vectors are not kept yet. begin: the folder of the encoder that is trained further; None: a new one.
    owners: the file of what people told (owners.py), whose tuning half is learned; None: nothing of the kind.

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
        facts = [] if owners is None else read_owners(owners, "tune")
        texts = placed_texts(text, settings)
        tell(f"torch {torch.__version__}, {settings}")
        encoder = None if begin is None else load_encoder(begin).requires_grad_(True)
        tokenizer = (
            word_tokenizer(texts, settings.vocabulary)
            if begin is None
            else RankTokenizer.read(begin)
        )
        tokens = token_texts(tokenizer)
        source = _config_text(teacher)
        every = [*texts, *tokens.values()]  # with `begin` too, so that the first run's file serves
        vectors = kept_vectors(lambda: read(teacher), every, out / VECTORS, tell, source)
        if encoder is None:
            first = dict(zip(tokens, vectors[len(texts) :], strict=True))
            encoder = new_encoder(tokenizer, first, settings)
        if encoder.size != vectors.shape[1]:
            raise ConfigError(
                f"{begin}: its vectors have {encoder.size} numbers, the teacher's {vectors.shape[1]}",
                "name an encoder that this teacher has trained",
            )
        about = digest_of([source, _digest(begin and begin / ENCODER), _digest(owners), *texts])
        loop = EncoderLoop(encoder, texts, vectors[: len(texts)], settings, about, facts)
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


def placed_texts(text: Sequence[Path], settings: EncoderSettings) -> list[str]:
    """What the teacher places, in random order. Raises ConfigError if it is too little for a step,
    DataError."""
    rng = random.Random(settings.seed)
    found = sentences(data_files(text), MOST_OF_SOURCE, rng)
    if len(found) < settings.sentences:
        raise ConfigError(
            f"--text has {len(found)} sentences, a step takes {settings.sentences}",
            "name more text, or give smaller --sentences",
        )
    lives = of_lives(LIVES, MOST_OF_LIVES, rng) if settings.lives else []
    texts = [*dict.fromkeys([*found, *lives, *words(found)])]
    rng.shuffle(texts)
    return texts


def new_encoder(
    tokenizer: RankTokenizer, first: Mapping[int, Tensor], settings: EncoderSettings
) -> SentenceEncoder:
    """An encoder whose blocks change nothing yet: a text's vector is the mean of its tokens' vectors.
    first: the vectors of some tokens by id, [S] each; the other tokens get random ones."""
    size = len(next(iter(first.values())))
    generator = torch.Generator().manual_seed(settings.seed)
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        dim=size,
        layers=settings.blocks,
        heads=HEADS,
        kv_heads=KV_HEADS,
        hidden=HIDDEN,
        head_size=HEAD_SIZE,
        context=MOST_TOKENS,
    )
    model = Model(config, generator=generator)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith(("out.weight", "down.weight")):
                weight.zero_()
        table = torch.randn(tokenizer.vocab_size, size, generator=generator)
        for at, vector in first.items():
            table[at] = vector.float()
        model.embedding.weight.copy_(SCALE * F.normalize(table, dim=-1))
    return SentenceEncoder(model, tokenizer, torch.eye(size), torch.zeros(size))


def _digest(file: Path | None) -> str:
    """A hash of a file; empty for None."""
    return "" if file is None else hashlib.sha256(file.read_bytes()).hexdigest()


def _config_text(folder: Path) -> str:
    """The config.json of a folder; empty where there is none, which whoever reads the folder says."""
    path = folder / "config.json"
    return path.read_text("utf-8") if path.is_file() else ""


def _shown(reports: Sequence[EncoderReport]) -> str:
    """The means over some steps, in a line."""
    return (
        f"step {reports[-1].step}: cosine to the teacher {fmean(r.cosine for r in reports):.3f}, "
        f"divergence {fmean(r.divergence for r in reports):.3f} nats, "
        f"contrast {fmean(r.contrast for r in reports):.3f} and {fmean(r.told for r in reports):.3f} nats"
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
