"""The chat template of an imported model as fixed texts, stored as `chat.json` in the model's folder.

The owner can edit `system_prompt` in that file. Left out: extracting the texts (engine.tokenizers.rendering).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from engine.errors import CheckpointError
from engine.storage.reading import parse_json
from engine.tokenizers.chat_template import ChatTemplate, Ids

CHAT_FILE = "chat.json"
SYSTEM_PROMPT = (
    "You are Vidya, a small language model, not a person. You learn from the one who talks with you. "
    "Give a short, correct answer of one sentence."
)
"""Default system prompt of an imported model."""
_ADVICE = "choose a model whose template marks turns with tokens of their own, as ChatML does"


@dataclass(frozen=True)
class ChatPieces:
    """The texts around turns, with special tokens written out. Same fields as ChatTemplate, which holds
    ids."""

    user_head: str
    user_tail: str
    assistant_head: str
    assistant_tail: str
    document_head: str
    document_tail: str
    opening: str = ""
    system_head: str = ""
    system_tail: str = ""
    system_prompt: str = SYSTEM_PROMPT
    """If empty, there is no system turn."""

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, data: bytes) -> ChatPieces:
        """Reads what `to_json` wrote. Raises CheckpointError."""
        try:
            raw = parse_json(data)
            if not all(isinstance(value, str) for value in raw.values()):
                raise ValueError("not all of its values are texts")
            return cls(**raw)
        except (ValueError, TypeError, AttributeError) as error:
            raise CheckpointError(
                f"its {CHAT_FILE} cannot be read ({error})",
                f"mend it, or remove {CHAT_FILE}: it is made again from the model's own template",
            ) from error

    def template(
        self,
        encode: Callable[[str], list[int]],
        encode_piece: Callable[[str], Ids],
        markers: Mapping[str, int],
    ) -> ChatTemplate:
        """The pieces as ids. encode: encodes ordinary text; encode_piece: encodes text with special tokens.
        markers: special token -> id. Raises CheckpointError if no special token begins a turn or ends an
        answer."""
        ids = {name: encode_piece(text) for name, text in asdict(self).items()}
        known = set(markers.values())
        for name, what in (("assistant_tail", "answers end"), ("user_head", "messages begin")):
            if not ids[name] or (name == "assistant_tail" and ids[name][0] not in known):
                raise CheckpointError(f"its {what} with no token of their own", _ADVICE)
        if not ids["assistant_head"] or not known.intersection(
            (*ids["user_tail"], *ids["assistant_head"])
        ):
            raise CheckpointError("its answers begin with no token of their own", _ADVICE)
        ids["system"] = tuple(encode(self.system_prompt)) if self.system_head else ()
        del ids["system_prompt"]
        return ChatTemplate(**ids)
