"""Forms the replies: completions, their chunks and the list of models, as OpenAI's clients read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from learning.protocol.events import AskDone
from learning.protocol.records import Ask, Candidate
from vidya_tui.cli.common import finite
from vidya_tui.server.reading import ID

END = "data: [DONE]\n\n"
"""Ends a stream."""


def encoded(value: dict[str, Any]) -> str:
    """JSON in ASCII, so that no character of a text controls a terminal. NaN and infinity become null."""
    return json.dumps(finite(value))


def model(name: str) -> dict[str, Any]:
    """A model, as one of /v1/models."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "vidya"}


def completion(
    ask: Ask, model: str, candidates: Iterable[Candidate], done: AskDone
) -> dict[str, Any]:
    """The whole reply. candidates: all of the ask."""
    ordered = sorted(candidates, key=lambda candidate: candidate.index)
    choices = [
        {
            **_choice(candidate),
            "message": {"role": "assistant", "content": candidate.text.strip(), "refusal": None},
        }
        for candidate in ordered
    ]
    head = _head(ask, model, "chat.completion")
    return {**head, "choices": choices, "usage": usage(ordered, done)}


def opening(ask: Ask, model: str, n: int) -> str:
    """The first chunks of a stream: the role of each choice."""
    return "".join(
        _chunk(ask, model, [_part(index, {"role": "assistant", "content": ""})])
        for index in range(n)
    )


def piece(ask: Ask, model: str, candidate: Candidate) -> str:
    """The chunks of one choice: its whole text, and its end."""
    said = _part(candidate.index - 1, {"content": candidate.text.strip()})
    return _chunk(ask, model, [said]) + _chunk(ask, model, [{**_choice(candidate), "delta": {}}])


def usage_chunk(ask: Ask, model: str, candidates: Iterable[Candidate], done: AskDone) -> str:
    """The chunk with the usage."""
    head = _head(ask, model, "chat.completion.chunk")
    return event({**head, "choices": [], "usage": usage(candidates, done)})


def usage(candidates: Iterable[Candidate], done: AskDone) -> dict[str, int]:
    """Tokens of the prompt, and of all choices together with the ids that end them."""
    answered = sum(len(candidate.tokens) for candidate in candidates)
    prompt = done.prompt_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
    }


def event(value: dict[str, Any]) -> str:
    """A server-sent event."""
    return f"data: {encoded(value)}\n\n"


def _head(ask: Ask, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"{ID}{ask.id}", "object": kind, "created": int(ask.created), "model": model}


def _choice(candidate: Candidate) -> dict[str, Any]:
    return {
        "index": candidate.index - 1,
        "finish_reason": "length" if candidate.ending == "length" else "stop",
        "logprobs": None,
        "certainty": candidate.certainty,
    }


def _part(index: int, delta: dict[str, str]) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": None, "logprobs": None}


def _chunk(ask: Ask, model: str, choices: list[dict[str, Any]]) -> str:
    return event({**_head(ask, model, "chat.completion.chunk"), "choices": choices})
