"""Where an answer that repeats another could have gone on otherwise.

Of all answers drawn so far the first tokens' distributions are kept. The branch that is taken next is
the likeliest beginning (best first, by the probability of all its tokens) whose text none of the other
answers begins with: so the answer differs, and it differs where the model itself was least sure.
Drawing hotter instead makes a model that knows its answer say nonsense.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from engine.tokenizers.tokenizer import Tokenizer

DEPTH = 16
"""Tokens at the beginning of an answer at which it may branch."""
BREADTH = 32
"""Likeliest tokens of each place that are considered."""

Beginning = tuple[int, ...]


def fold(text: str) -> str:
    """Two answers with the same fold say the same."""
    return " ".join(text.casefold().split())


class DistinctTexts:
    """The beginnings that one prompt's answers had, and could have had."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._seen: dict[Beginning, Tensor] = {}
        """Tokens -> logits [V] of the next."""
        self._taken: set[str] = set()

    def saw(self, rows: Sequence[Sequence[int]], logits: Tensor) -> None:
        """What was drawn of each answer, and the logits [rows, V] of its next token."""
        for tokens, row in zip(rows, logits, strict=True):
            if len(tokens) < DEPTH:
                self._seen.setdefault(tuple(tokens), row)

    def next(self, said: set[str]) -> Beginning | None:
        """The likeliest beginning that none of the folds `said` begins with and that was not given
        before; None where there is none left."""
        scores: dict[Beginning, float] = {(): 0.0}
        open_: list[tuple[float, Beginning]] = []
        for tokens in sorted(self._seen, key=len):
            if tokens not in scores:
                continue
            logprobs, ids = (
                self._seen[tokens].log_softmax(-1).topk(min(BREADTH, len(self._seen[tokens])))
            )
            for logprob, token in zip(logprobs.tolist(), ids.tolist(), strict=True):
                longer = (*tokens, token)
                scores[longer] = scores[tokens] + logprob
                open_.append((scores[longer], longer))
        for _, beginning in sorted(open_, reverse=True):
            text = self._tokenizer.decode_bytes(list(beginning)).decode("utf-8", "ignore")
            last = self._tokenizer.decode_bytes([beginning[-1]]).decode("utf-8", "ignore")
            key = fold(text)
            if not any(map(str.isalnum, last)) or key in self._taken:
                continue
            if not any(other.startswith(key) for other in said):
                self._taken.add(key)
                return beginning
        return None
