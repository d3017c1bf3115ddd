"""Finds another beginning for an answer that repeats an earlier one.

Keeps the next-token distributions of the first tokens of all answers. The next branch is the likeliest
beginning, by best-first search on the probability of all its tokens, that is not a prefix of any other
answer's text. So the answer differs, and where the model was least sure. A higher temperature instead would
make a model that knows its answer produce nonsense.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch import Tensor

from engine.tokenizers.tokenizer import Tokenizer

DEPTH = 16
"""Number of first tokens of an answer at which it may branch."""
BREADTH = 32
"""Number of likeliest tokens considered at each position."""

Beginning = tuple[int, ...]


_MARKS = re.compile(r"[.,;:!?…]+(?=\s|$)")
"""Marks at the end of a word."""


def text_key(text: str) -> str:
    """Normal form of a text: two answers with the same key count as equal. Case, white space and the marks
    after words make no difference, unless there is nothing else."""
    folded = " ".join(text.casefold().split())
    return " ".join(_MARKS.sub("", folded).split()) or folded


class DistinctTexts:
    """The beginnings of the answers to one prompt, with alternatives."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._seen: dict[Beginning, Tensor] = {}
        """Beginning -> logits [V] of the next token."""
        self._likeliest: dict[Beginning, list[tuple[float, int]]] = {}
        """Beginning -> (log-probability, id) of the likeliest next tokens, once they were needed."""
        self._taken: set[str] = set()

    def saw(self, rows: Sequence[Sequence[int]], logits: Tensor) -> None:
        """Records the tokens of each answer so far and the logits [rows, V] of its next token."""
        for tokens, row in zip(rows, logits, strict=True):
            if len(tokens) < DEPTH:
                self._seen.setdefault(tuple(tokens), row)

    def next(self, said: set[str]) -> Beginning | None:
        """The likeliest beginning whose key is no prefix of a key in `said` and that was not returned
        before; None if there is none left."""
        scores: dict[Beginning, float] = {(): 0.0}
        open_: list[tuple[float, Beginning]] = []
        for tokens in sorted(self._seen, key=len):
            if tokens not in scores:
                continue
            for logprob, token in self._next_tokens(tokens):
                longer = (*tokens, token)
                scores[longer] = scores[tokens] + logprob
                open_.append((scores[longer], longer))
        for _, beginning in sorted(open_, reverse=True):
            writer = self._tokenizer.tag_writer()
            text = b"".join(map(writer.push, beginning)).decode("utf-8", "ignore")
            last = self._tokenizer.decode_bytes([beginning[-1]]).decode("utf-8", "ignore")
            key = text_key(text)
            if not any(map(str.isalnum, last)) or key in self._taken:
                continue
            if not any(other.startswith(key) for other in said):
                self._taken.add(key)
                return beginning
        return None

    def _next_tokens(self, tokens: Beginning) -> list[tuple[float, int]]:
        found = self._likeliest.get(tokens)
        if found is None:
            logits = self._seen[tokens]
            logprobs, ids = logits.log_softmax(-1).topk(min(BREADTH, len(logits)))
            found = list(zip(logprobs.tolist(), ids.tolist(), strict=True))
            self._likeliest[tokens] = found
        return found
