"""Reads the bodies of requests. Whatever cannot be honoured is refused by name; nothing is guessed.

Left out: whether the model, the ask or the choice exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.storage.reading import parse_json, shown
from learning.protocol.records import Turn, Turns
from vidya_tui.server.refusal import Refusal
from vidya_tui.session.judging import tidy
from vidya_tui.session.teaching import AskVerdict

ID = "chatcmpl-"
"""Begins the id of a completion; the number of the ask follows."""
_LARGEST = 2**63 - 1
"""Of an integer in the journal."""
_STOPS = 4
_UNSUPPORTED: Mapping[str, tuple[Any, ...]] = {
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "repetition_penalty": (),
    "top_k": (),
    "min_p": (),
    "modalities": (["text"],),
    "audio": (),
    "web_search_options": (),
}
"""Parameter that would change the answer and is not supported -> its values that change nothing. null is one
for all of them."""
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


@dataclass(frozen=True)
class CompletionRequest:
    """The body of POST /v1/chat/completions."""

    turns: Turns
    """Messages and answers in turn; the first and the last are of the user."""
    system: str = ""
    """All system messages; empty: none."""
    dropped: bool = False
    """Answers that stood before the first message of the user were left out."""
    model: str | None = None
    n: int = 1
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """None of these three: as set for the model."""
    seed: int | None = None
    stops: tuple[str, ...] = ()
    stream: bool = False
    usage: bool = False
    """The last chunk of a stream tells the usage."""


@dataclass(frozen=True)
class FeedbackRequest:
    """The body of POST /v1/feedback."""

    ask: int
    verdict: AskVerdict
    """Numbers of candidates count from 1."""
    wait: bool = True
    """Whether the reply waits until the lesson is learned."""


def read_object(raw: bytes) -> dict[str, Any]:
    """The JSON object of a body. Raises Refusal."""
    try:
        found = parse_json(raw)
    except (ValueError, RecursionError) as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise Refusal(400, f"the body is not JSON: {why}", "send one JSON object") from None
    if not isinstance(found, dict):
        raise Refusal(400, "the body is not a JSON object", 'send {"messages": [...]}')
    return found


def read_completion(raw: bytes) -> CompletionRequest:
    """Reads a request for answers. Raises Refusal."""
    body = read_object(raw)
    for name, neutral in _UNSUPPORTED.items():
        value = body.get(name)
        if value is not None and not any(_same(value, one) for one in neutral):
            raise _wrong(name, "is not supported", "leave it out", code="unsupported_parameter")
    system, turns, dropped = _messages(body)
    options = _optional(body, "stream_options", dict, "an object") or {}
    stream = _optional(body, "stream", bool, "true or false") or False
    usage = _optional(options, "include_usage", bool, "true or false", "stream_options.") or False
    if options and not stream:
        raise _wrong("stream_options", "goes with a stream alone", 'set "stream": true')
    longest = [_whole(body, name, 1, 4096) for name in ("max_tokens", "max_completion_tokens")]
    if None not in longest and longest[0] != longest[1]:
        raise _wrong("max_tokens", "differs from max_completion_tokens", "give one of them")
    return CompletionRequest(
        turns,
        system,
        dropped,
        _optional(body, "model", str, "a text"),
        _whole(body, "n", 1, 9) or 1,
        _number(body, "temperature", 0.0, 10.0),
        _number(body, "top_p", 0.0, 1.0, above=True),
        longest[0] or longest[1],
        _whole(body, "seed", -_LARGEST - 1, _LARGEST),
        _stops(body.get("stop")),
        stream,
        usage,
    )


def read_feedback(raw: bytes) -> FeedbackRequest:
    """Reads a judgement. Raises Refusal."""
    body = read_object(raw)
    ask = _ask(body.get("id"))
    given = [name for name in ("pick", "say", "rating") if body.get(name) is not None]
    if len(given) != 1:
        has = f"has {', '.join(given)}" if given else "has no judgement"
        raise Refusal(400, f"the feedback {has}", "give one of pick, say and rating")
    pick, index = _whole(body, "pick", 0, 8), _whole(body, "index", 0, 8)
    text = _optional(body, "say", str, "a text")
    if text is not None and not tidy(text):
        raise _wrong("say", "is empty", "give the answer that should have been given")
    rating, reason = body.get("rating"), _optional(body, "reason", str, "a text") or ""
    if rating not in (None, "good", "bad"):
        raise _wrong("rating", f"is {shown(rating)}", 'it is "good" or "bad"')
    if reason and rating is None:
        raise _wrong("reason", "goes with a rating", "leave it out, or rate the answer")
    if index is not None and pick is not None:
        raise _wrong("index", "goes with say and rating", "pick alone names the choice")
    numbers = [None if place is None else place + 1 for place in (pick, index)]
    verdict = AskVerdict(numbers[0], text, rating, reason, index=numbers[1])
    wait = _optional(body, "wait", bool, "true or false")
    return FeedbackRequest(ask, verdict, wait is not False)


def _ask(value: Any) -> int:
    if value is None:
        raise _wrong("id", "is missing", "give the id of the completion")
    number = value.removeprefix(ID) if isinstance(value, str) else ""
    known = number.isascii() and number.isdigit() and len(number) < 19
    if not (known and value == f"{ID}{int(number)}"):
        raise Refusal(
            404, f"there is no completion {shown(value)}", f"ids are {ID}1 and so on", param="id"
        )
    return int(number)


def _messages(body: dict[str, Any]) -> tuple[str, Turns, bool]:
    """(all system messages, turns of alternating roles, whether answers before the first message were left
    out)."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        what = "is missing" if messages is None else "is not a list with messages"
        raise _wrong("messages", what, 'send [{"role": "user", "content": "hello"}]')
    system, turns, dropped = list[str](), list[Turn](), False
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        if not isinstance(message, dict):
            raise _wrong(where, "is not an object", 'send {"role": "user", "content": "hello"}')
        role = message.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise _wrong(
                f"{where}.role", f"is {shown(role)}", "it is system, developer, user or assistant"
            )
        for name in ("tool_calls", "function_call", "audio"):
            if message.get(name):
                raise _wrong(f"{where}.{name}", "is not supported", "leave it out")
        text = _content(message.get("content"), f"{where}.content")
        said = _ROLES[role]
        if said == "system":
            system.append(text)
        elif said == "assistant" and not turns:
            dropped = True
        elif turns and turns[-1].role == said:
            turns[-1] = Turn(turns[-1].role, f"{turns[-1].text}\n{text}")
        else:
            turns.append(Turn("user" if said == "user" else "assistant", text))
    if not turns or turns[-1].role != "user":
        raise _wrong("messages", "does not end with the user's message", "add one to be answered")
    return "\n".join(system), tuple(turns), dropped


def _content(value: Any, where: str) -> str:
    """The text of a message: a text, or a list of parts that are texts."""
    parts = [{"type": "text", "text": value}] if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise _wrong(where, f"is {shown(value)}", "it is a text, or a list of texts")
    texts = []
    for place, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind != "text" or not isinstance(part.get("text"), str):
            at = f"{where}[{place}]"
            raise _wrong(at, f"is of the type {shown(kind)}", 'send {"type": "text", "text": ...}')
        texts.append(part["text"])
    text = tidy("\n".join(texts))
    if not text:
        raise _wrong(where, "is empty", "send a text")
    return text


def _stops(value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else [] if value is None else value
    good = isinstance(stops, list) and len(stops) <= _STOPS
    if not good or not all(isinstance(one, str) and one for one in stops):
        raise _wrong("stop", f"is {shown(value)}", f"it is a text, or a list of at most {_STOPS}")
    return tuple(stops)


def _whole(body: dict[str, Any], name: str, low: int, high: int) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _wrong(name, f"is {shown(value)}", f"it is a whole number from {low} to {high}")
    return value


def _number(
    body: dict[str, Any], name: str, low: float, high: float, *, above: bool = False
) -> float | None:
    """above: `low` itself is out of range."""
    value = body.get(name)
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= value <= high or (above and value == low):  # NaN is in no range
        bounds = f"above {low:g} and at most {high:g}" if above else f"from {low:g} to {high:g}"
        raise _wrong(name, f"is {shown(value)}", f"it is a number {bounds}")
    return float(value)


def _optional(body: dict[str, Any], name: str, kind: type, words: str, place: str = "") -> Any:
    """A value of this kind; None if it is left out."""
    value = body.get(name)
    if value is not None and not isinstance(value, kind):
        raise _wrong(place + name, f"is {shown(value)}", f"it is {words}")
    return value


def _same(value: Any, neutral: Any) -> bool:
    """Equal, and true is not 1."""
    return bool(value == neutral) and isinstance(value, bool) is isinstance(neutral, bool)


def _wrong(name: str, what: str, next_step: str, *, code: str | None = None) -> Refusal:
    return Refusal(400, f"{name} {what}", next_step, param=name, code=code)
