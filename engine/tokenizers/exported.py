"""Exports a tokenizer and its chat template: as the files of transformers, or as GGUF metadata.

Vidya's own tokenizer becomes a `tokenizer.json`. Its merges are all pairs of tokens that form a token, so
that it gives the same ids as tiktoken. The chat template is generated from the ChatPieces, including the
system prompt. Left out: reading such files (engine.tokenizers.byte_level, engine.tokenizers.from_gguf).
"""

from __future__ import annotations

import json
from typing import Any

from engine.errors import CheckpointError
from engine.storage.reading import parse_json
from engine.tokenizers.byte_level import TOKENIZER_JSON, ByteLevelTokenizer, byte_alphabet
from engine.tokenizers.chat_pieces import CHAT_FILE, ChatPieces
from engine.tokenizers.from_gguf import SPLITS, bpe_json, split_by
from engine.tokenizers.ranks import PATTERN, SPECIALS, TOKENIZER_CONFIG, RankTokenizer
from engine.tokenizers.rendering import TEMPLATE_FILE
from engine.tokenizers.tokenizer import Tokenizer

_NORMAL, _CONTROL, _USER_DEFINED, _UNUSED = 1, 3, 4, 5
"""Values of `tokenizer.ggml.token_type`."""


def huggingface_files(tokenizer: Tokenizer) -> dict[str, str]:
    """Name -> text of the files that transformers needs. They complement the files that the tokenizer saves
    and replace those of the same name."""
    template = jinja_template(chat_pieces(tokenizer))
    if isinstance(tokenizer, ByteLevelTokenizer):
        config = parse_json(tokenizer.contents.get(TOKENIZER_CONFIG, b"{}"))
        files = {}
    else:
        own = _own(tokenizer)
        config = {"pattern": own.pattern, "special_tokens": own.specials}
        config |= {"clean_up_tokenization_spaces": False}
        files = {TOKENIZER_JSON: json.dumps(tokenizer_json(own), ensure_ascii=False) + "\n"}
    end = _text_of(tokenizer, tokenizer.chat.end)
    config |= {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": template}
    config |= {"eos_token": end, "pad_token": end}
    return files | {
        TOKENIZER_CONFIG: json.dumps(config, indent=1, ensure_ascii=False) + "\n",
        TEMPLATE_FILE: template,
    }


def gguf_metadata(tokenizer: Tokenizer, vocab_size: int) -> dict[str, Any]:
    """The GGUF keys and values of the tokenizer. vocab_size: that of the model; its further ids become
    unused tokens. Raises CheckpointError if llama.cpp has no such pre-tokenizer."""
    raw = tokenizer_json(tokenizer)
    tokens = [f"[PAD{i}]" for i in range(vocab_size)]
    kinds = [_UNUSED] * vocab_size
    for token, i in raw["model"]["vocab"].items():
        tokens[i], kinds[i] = token, _NORMAL
    for one in raw.get("added_tokens") or []:
        tokens[one["id"]] = one["content"]
        kinds[one["id"]] = _CONTROL if one.get("special") else _USER_DEFINED
    merges = raw["model"]["merges"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": _split_name(tokenizer, raw),
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": kinds,
        "tokenizer.ggml.merges": [m if isinstance(m, str) else " ".join(m) for m in merges],
        "tokenizer.ggml.eos_token_id": tokenizer.chat.end,
        "tokenizer.ggml.padding_token_id": tokenizer.chat.end,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.chat_template": jinja_template(chat_pieces(tokenizer)),
    }


def tokenizer_json(tokenizer: Tokenizer) -> dict[str, Any]:
    """The parsed `tokenizer.json` of a tokenizer with the same ids."""
    if isinstance(tokenizer, ByteLevelTokenizer):
        return dict(parse_json(tokenizer.contents[TOKENIZER_JSON], depth=64))
    own = _own(tokenizer)
    shown = {byte: character for character, byte in byte_alphabet().items()}
    names = {rank: "".join(shown[b] for b in token) for token, rank in own.ranks.items()}
    return bpe_json(
        {names[rank]: rank for rank in sorted(names)},
        [[names[left], names[right]] for left, right in _merges(own.ranks)],
        # other programs leave special tokens out of the text that they show; tags belong to it
        {
            name: (i, not own.says_tags or i not in own.tags.values())
            for name, i in own.specials.items()
        },
        split_by(own.pattern),
    )


def chat_pieces(tokenizer: Tokenizer) -> ChatPieces:
    """The tokenizer's chat template as texts."""
    if isinstance(tokenizer, ByteLevelTokenizer):
        return ChatPieces.from_json(tokenizer.contents[CHAT_FILE])
    user, assistant, end = SPECIALS
    return ChatPieces(user, "", assistant, end, end, end, system_prompt="")


def jinja_template(pieces: ChatPieces) -> str:
    """A Jinja template that writes a conversation as vidya encodes it. A system message at its start
    replaces the pieces' system prompt."""
    prompt = pieces.system_prompt if pieces.system_head else ""
    start = [f"{{{{- {_quoted(pieces.opening)} }}}}"] if pieces.opening else []
    if pieces.system_head:
        start += [
            f"{{%- set system = {_quoted(prompt)} %}}",
            "{%- if messages and messages[0]['role'] == 'system' %}"
            "{%- set system = messages[0]['content'] %}{%- endif %}",
            f"{{%- if system %}}{{{{- {_quoted(pieces.system_head)} + system + "
            f"{_quoted(pieces.system_tail)} }}}}{{%- endif %}}",
        ]
    turns = [
        f"{{%- {word} (message['role'] == '{role}') %}}"
        f"{{{{- {_quoted(head)} + message['content'] + {_quoted(tail)} }}}}"
        for word, role, head, tail in (
            ("if", "user", pieces.user_head, pieces.user_tail),
            ("elif", "assistant", pieces.assistant_head, pieces.assistant_tail),
        )
    ]
    return "".join(
        [
            *start,
            "{%- for message in messages %}",
            *turns,
            "{%- endif %}{%- endfor %}",
            f"{{%- if add_generation_prompt %}}{{{{- {_quoted(pieces.assistant_head)} }}}}"
            "{%- endif %}",
        ]
    )


def _merges(ranks: dict[bytes, int]) -> list[tuple[int, int]]:
    """All pairs of ranks whose tokens together form a token of higher rank, ordered by that rank."""
    found = []
    for token, rank in ranks.items():
        for cut in range(1, len(token)):
            left, right = ranks.get(token[:cut]), ranks.get(token[cut:])
            if left is not None and right is not None and max(left, right) < rank:
                found.append((rank, left, right))
    return [(left, right) for _, left, right in sorted(found)]


def _split_name(tokenizer: Tokenizer, raw: dict[str, Any]) -> str:
    """llama.cpp's name of the tokenizer's pre-tokenizer. raw: its `tokenizer.json`. Vidya's pattern counts as
    Qwen 2's; they differ only in white space with line ends at the end of a text. Raises CheckpointError."""
    if isinstance(tokenizer, RankTokenizer) and tokenizer.pattern == PATTERN:
        return "qwen2"
    mine = _essence(raw.get("pre_tokenizer"))
    for name, parts in SPLITS.items():
        if mine == _essence({"type": "Sequence", "pretokenizers": parts}):
            return name
    raise CheckpointError(
        "llama.cpp has no pre-tokenizer that splits text as this model's does",
        "export it as a Hugging Face folder instead",
    )


def _essence(pre_tokenizer: Any) -> list[tuple[Any, ...]]:
    """The settings of a pre-tokenizer that decide where it splits, one tuple per part."""
    if not isinstance(pre_tokenizer, dict):
        return []
    parts = pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    keys = ("type", "individual_digits", "pattern", "use_regex", "add_prefix_space")
    return [tuple(part.get(key) for key in keys) for part in parts]


def _own(tokenizer: Tokenizer) -> RankTokenizer:
    assert isinstance(tokenizer, RankTokenizer), "there are two kinds of tokenizers"
    return tokenizer


def _text_of(tokenizer: Tokenizer, special: int) -> str:
    """The text of a special id, such as `<|end|>`."""
    added = tokenizer_json(tokenizer)["added_tokens"]
    return str(next(one["content"] for one in added if one["id"] == special))


def _quoted(text: str) -> str:
    """The text as a string literal in Jinja."""
    return json.dumps(text, ensure_ascii=False)
