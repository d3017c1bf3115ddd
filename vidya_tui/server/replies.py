"""Forms the replies: completions, their chunks and the list of models, as OpenAI's clients read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from learning.protocol.events import AskDone, CandidateDone
from learning.protocol.records import Ask
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
    ask: Ask, model: str, answers: Iterable[CandidateDone], done: AskDone
) -> dict[str, Any]:
    """The whole reply. answers: all of the ask."""
    ordered = sorted(answers, key=lambda answer: answer.candidate.index)
    choices = [
        {
            **_choice(answer),
            "message": {"role": "assistant", "content": _text(answer), "refusal": None},
        }
        for answer in ordered
    ]
    head = _head(ask, model, "chat.completion")
    return {**head, "choices": choices, "usage": usage(ordered, done)}


def opening(ask: Ask, model: str, n: int) -> str:
    """The first chunks of a stream: the role of each choice."""
    return "".join(
        _chunk(ask, model, [_part(index, {"role": "assistant", "content": ""})])
        for index in range(n)
    )


def piece(ask: Ask, model: str, answer: CandidateDone) -> str:
    """The chunks of one choice: its whole text, and its end."""
    said = _part(answer.candidate.index - 1, {"content": _text(answer)})
    return _chunk(ask, model, [said]) + _chunk(ask, model, [{**_choice(answer), "delta": {}}])


def usage_chunk(ask: Ask, model: str, answers: Iterable[CandidateDone], done: AskDone) -> str:
    """The chunk with the usage."""
    head = _head(ask, model, "chat.completion.chunk")
    return event({**head, "choices": [], "usage": usage(answers, done)})


def usage(answers: Iterable[CandidateDone], done: AskDone) -> dict[str, int]:
    """Tokens of the prompt, and of all choices together with the ids that end them."""
    answered = sum(len(answer.candidate.tokens) for answer in answers)
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


def _text(answer: CandidateDone) -> str:
    return answer.candidate.text.strip()


def _choice(answer: CandidateDone) -> dict[str, Any]:
    candidate = answer.candidate
    return {
        "index": candidate.index - 1,
        "finish_reason": "length" if candidate.ending == "length" else "stop",
        "logprobs": None,
        "certainty": candidate.certainty,
        "recalled": answer.recalled,
        "said_at": answer.said_at,
    }


def _part(index: int, delta: dict[str, str]) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": None, "logprobs": None}


def _chunk(ask: Ask, model: str, choices: list[dict[str, Any]]) -> str:
    return event({**_head(ask, model, "chat.completion.chunk"), "choices": choices})
