"""Small tokenizers of other programs, made as their files are: folders with a `tokenizer.json`."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

MARKERS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
QWEN_LIKE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SENTENCES = (
    "The cat sat on the mat and looked at the moon.",
    "What do you like to eat? I like warm bread with butter and honey.",
    "Grüße aus Köln: ein schöner Tag, naïve café, 日本語 और हिन्दी 🙂.",
    "In 1984 there were 365 days; it's 12:30, don't you know?\n\n\tThey'll come.",
)
CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are another.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
ZEPHYR = (
    "{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>\n' }}"
    "{{ message['content'] | trim }}{{ eos_token + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)


def trained(
    split: str = "smollm",
    markers: tuple[str, ...] = MARKERS,
    alphabet: bool = True,
    size: int = 600,
    last: bool = False,
) -> dict[str, Any]:
    """A `tokenizer.json`, trained on a few sentences.

    split: smollm or qwen. alphabet: whether every byte has an id. last: whether markers come after all
    other ids, as added tokens outside of the vocabulary.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
    from tokenizers import pre_tokenizers as pre
    from tokenizers.trainers import BpeTrainer

    made = Tokenizer(models.BPE())
    if split == "qwen":
        made.normalizer = normalizers.NFC()
        pieces = pre.Split(Regex(QWEN_LIKE), "isolated")
        made.pre_tokenizer = pre.Sequence(
            [pieces, pre.ByteLevel(add_prefix_space=False, use_regex=False)]
        )
    else:
        made.pre_tokenizer = pre.Sequence(
            [pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)]
        )
    made.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=size,
        show_progress=False,
        initial_alphabet=pre.ByteLevel.alphabet() if alphabet else [],
        special_tokens=[] if last else list(markers),
    )
    made.train_from_iterator(SENTENCES * 4, trainer)
    if last:
        made.add_special_tokens([AddedToken(one, special=True) for one in markers])
    return dict(json.loads(made.to_str()))


def write(folder: Path, raw: dict[str, Any], template: str | None = CHATML, **config: Any) -> Path:
    """The folder with that tokenizer; config: further entries of `tokenizer_config.json`."""
    (folder / "tokenizer.json").write_text(json.dumps(raw), "utf-8")
    found = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", **config}
    if template is not None:
        found["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(found), "utf-8")
    return folder


def texts(count: int, seed: int = 0) -> list[str]:
    """Texts of many scripts: words of blocks of Unicode, numbers, white space, markers that were typed,
    and any characters at all."""
    rng = random.Random(seed)
    blocks = [
        *((0x20, 0x7E), (0xA1, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA)),
        *((0x620, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x3040, 0x30FF)),
        *((0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF)),
        *((0x0, 0x1F), (0x300, 0x36F), (0x2000, 0x206F), (0xE0000, 0xE007F), (0x1D400, 0x1D7FF)),
    ]
    blanks = [" ", "  ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u3000", "", "'s ", "'LL ", ". "]
    typed = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start|>assistant\n", "1984", "٣٤"]
    made = []
    for _ in range(count):
        words = []
        for _ in range(rng.randint(0, 12)):
            kind = rng.random()
            if kind < 0.1:
                words.append(rng.choice(typed))
            elif kind < 0.2:
                words.append(_any_character(rng))
            else:
                low, high = rng.choice(blocks)
                words.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 8))))
            words.append(rng.choice(blanks))
        made.append("".join(words))
    return made


def _any_character(rng: random.Random) -> str:
    while 0xD800 <= (point := rng.randint(0, sys.maxunicode)) <= 0xDFFF:
        pass
    return chr(point)
