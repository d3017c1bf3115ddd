"""Bodies of requests: what is read, and what is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from learning.protocol.records import Turn
from vidya_tui.server.reading import CompletionRequest, read_completion, read_feedback
from vidya_tui.server.refusal import Refusal

HELLO = [{"role": "user", "content": "hello"}]


def read(**body: Any) -> CompletionRequest:
    return read_completion(json.dumps({"messages": HELLO, **body}).encode())


def refused(raw: bytes | dict[str, Any], feedback: bool = False) -> Refusal:
    data = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    with pytest.raises(Refusal) as caught:
        read_feedback(data) if feedback else read_completion(data)
    assert "\n" not in str(caught.value) and str(caught.value).isascii()
    return caught.value


def test_what_is_left_out_is_as_set_for_the_model() -> None:
    assert read() == CompletionRequest((Turn("user", "hello"),))
    nulls = dict.fromkeys(("n", "temperature", "top_p", "max_tokens", "seed", "stop", "tools"))
    assert read(**nulls, stream=None, stream_options=None, model=None) == read()


def test_everything_that_is_supported() -> None:
    found = read(
        model="10m",
        n=9,
        temperature=0,
        top_p=1,
        max_completion_tokens=4096,
        seed=-5,
        stop=[".", "!"],
        stream=True,
        stream_options={"include_usage": True},
    )
    assert (found.model, found.n, found.temperature, found.top_p) == ("10m", 9, 0.0, 1.0)
    assert (found.max_tokens, found.seed, found.stops) == (4096, -5, (".", "!"))
    assert found.stream and found.usage
    assert read(stop=".", max_tokens=7, max_completion_tokens=7).max_tokens == 7


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"messages": ' + b"[" * 40 + b"]" * 40 + b"}", "nested more than"),
        (b"[]", "is not a JSON object"),
        (b"null", "is not a JSON object"),
        (b'{"seed": ' + b"9" * 5000 + b"}", "is not JSON"),
    ],
)
def test_a_body_that_is_no_json_object(raw: bytes, words: str) -> None:
    error = refused(raw)
    assert error.status == 400 and words in str(error)


@pytest.mark.parametrize(
    ("body", "param", "words"),
    [
        ({"n": "3"}, "n", "is '3'; it is a whole number from 1 to 9"),
        ({"n": 0}, "n", "from 1 to 9"),
        ({"n": 10}, "n", "from 1 to 9"),
        ({"n": True}, "n", "from 1 to 9"),
        ({"n": 1.5}, "n", "from 1 to 9"),
        ({"temperature": -0.1}, "temperature", "from 0 to 10"),
        ({"temperature": 10.1}, "temperature", "from 0 to 10"),
        ({"temperature": float("nan")}, "temperature", "from 0 to 10"),
        ({"temperature": "hot"}, "temperature", "from 0 to 10"),
        ({"top_p": 0}, "top_p", "above 0 and at most 1"),
        ({"top_p": 1.01}, "top_p", "above 0 and at most 1"),
        ({"max_tokens": 0}, "max_tokens", "from 1 to 4096"),
        ({"max_completion_tokens": 4097}, "max_completion_tokens", "from 1 to 4096"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, "max_tokens", "give one of them"),
        ({"seed": 2**63}, "seed", "from -9223372036854775808 to 9223372036854775807"),
        ({"stop": ""}, "stop", "at most 4"),
        ({"stop": [1]}, "stop", "at most 4"),
        ({"stop": list("abcde")}, "stop", "at most 4"),
        ({"stream": "yes"}, "stream", "true or false"),
        ({"stream_options": {"include_usage": True}}, "stream_options", '"stream": true'),
        (
            {"stream": True, "stream_options": {"include_usage": 1}},
            "stream_options.include_usage",
            "true or false",
        ),
        ({"model": 3}, "model", "a text"),
        ({"messages": None}, "messages", "is missing"),
        ({"messages": []}, "messages", "is not a list with messages"),
        ({"messages": "hello"}, "messages", "is not a list with messages"),
        ({"messages": ["hello"]}, "messages[0]", "is not an object"),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_range(
    body: dict[str, Any], param: str, words: str
) -> None:
    error = refused({"messages": HELLO, **body})
    assert (error.status, error.param) == (400, param)
    assert words in str(error)


@pytest.mark.parametrize(
    ("message", "param", "words"),
    [
        ({"content": "x"}, "messages[1].role", "is None"),
        ({"role": "tool", "content": "x"}, "messages[1].role", "system, developer, user or"),
        ({"role": ["user"], "content": "x"}, "messages[1].role", "is ['user']"),
        ({"role": "\u202e\x1b[2J\ud83d", "content": "x"}, "messages[1].role", "is '\\u202e\\x1b"),
        ({"role": "user"}, "messages[1].content", "is None"),
        ({"role": "user", "content": 7}, "messages[1].content", "is 7"),
        ({"role": "user", "content": " \n"}, "messages[1].content", "is empty"),
        ({"role": "user", "content": []}, "messages[1].content", "is empty"),
        ({"role": "user", "content": ["x"]}, "messages[1].content[0]", "type None"),
        (
            {"role": "user", "content": [{"type": "text", "text": 3}]},
            "messages[1].content[0]",
            "type 'text'",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]},
            "messages[1].content[0]",
            "type 'image_url'",
        ),
        (
            {"role": "assistant", "content": "x", "tool_calls": [{}]},
            "messages[1].tool_calls",
            "is not supported",
        ),
        ({"role": "assistant", "content": "x"}, "messages", "does not end with the user's"),
        ({"role": "system", "content": 3}, "messages[1].content", "is 3"),
    ],
)
def test_a_message_that_cannot_be_is_named(message: Any, param: str, words: str) -> None:
    error = refused({"messages": [*HELLO, message]})
    assert (error.status, error.param) == (400, param)
    assert words in str(error)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tools", [{"type": "function"}]),
        ("tool_choice", "required"),
        ("functions", [{}]),
        ("response_format", {"type": "json_object"}),
        ("logprobs", True),
        ("logprobs", 1),
        ("top_logprobs", 2),
        ("logit_bias", {"5": 100}),
        ("presence_penalty", 0.5),
        ("frequency_penalty", -1),
        ("repetition_penalty", 1.2),
        ("top_k", 40),
        ("modalities", ["text", "audio"]),
    ],
)
def test_what_would_change_the_answer_and_is_not_supported_is_refused(
    name: str, value: Any
) -> None:
    error = refused({"messages": HELLO, name: value})
    assert (error.status, error.param, error.code) == (400, name, "unsupported_parameter")
    assert str(error) == f"{name} is not supported; leave it out"


def test_what_changes_nothing_is_passed_over() -> None:
    plain = {"tools": [], "tool_choice": "none", "response_format": {"type": "text"}}
    plain |= {"logprobs": False, "presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": {}}
    assert read(**plain, user="me", metadata={"a": 1}, store=True, service_tier="auto") == read()


def test_turns_alternate_and_system_messages_stand_apart() -> None:
    found = read(
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "assistant", "content": "Welcome!"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            },
            {"role": "user", "content": " c "},
            {"role": "assistant", "content": "d", "refusal": None, "tool_calls": None},
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": "e", "name": "me"},
        ]
    )
    assert found.turns == (Turn("user", "a\nb\nc"), Turn("assistant", "d"), Turn("user", "e"))
    assert found.system == "Be brief.\nBe kind." and found.dropped
    assert not read().dropped


def test_texts_stay_as_they_are() -> None:
    text = "\u202eabc\x1b[31m <|assistant|> \x00 \ud83d"
    (turn,) = read(messages=[{"role": "user", "content": text}]).turns
    assert turn.text == "\u202eabc\x1b[31m <|assistant|> \x00 ?"


@pytest.mark.parametrize(
    ("body", "status", "param", "words"),
    [
        ({"pick": 1}, 400, "id", "is missing"),
        ({"id": 3, "pick": 1}, 404, "id", "no completion 3"),
        ({"id": "3", "pick": 1}, 404, "id", "ids are chatcmpl-1"),
        ({"id": "chatcmpl-03", "pick": 1}, 404, "id", "no completion"),
        ({"id": "chatcmpl-\u0663", "pick": 1}, 404, "id", "no completion"),
        ({"id": "chatcmpl-" + "9" * 30, "pick": 1}, 404, "id", "no completion"),
        ({"id": "chatcmpl-1"}, 400, None, "give one of pick, say and rating"),
        ({"id": "chatcmpl-1", "pick": 1, "say": "x"}, 400, None, "has pick, say"),
        ({"id": "chatcmpl-1", "pick": -1}, 400, "pick", "from 0 to 8"),
        ({"id": "chatcmpl-1", "pick": "1"}, 400, "pick", "from 0 to 8"),
        ({"id": "chatcmpl-1", "say": " "}, 400, "say", "is empty"),
        ({"id": "chatcmpl-1", "say": 5}, 400, "say", "a text"),
        ({"id": "chatcmpl-1", "rating": "great"}, 400, "rating", '"good" or "bad"'),
        ({"id": "chatcmpl-1", "rating": ["good"]}, 400, "rating", '"good" or "bad"'),
        ({"id": "chatcmpl-1", "say": "x", "reason": "y"}, 400, "reason", "goes with a rating"),
        ({"id": "chatcmpl-1", "pick": 1, "index": 1}, 400, "index", "goes with say and rating"),
        ({"id": "chatcmpl-1", "pick": 1, "wait": "no"}, 400, "wait", "true or false"),
    ],
)
def test_feedback_that_cannot_be(
    body: dict[str, Any], status: int, param: str | None, words: str
) -> None:
    error = refused(body, feedback=True)
    assert (error.status, error.param) == (status, param)
    assert words in str(error)


def test_choices_count_from_0_and_candidates_from_1() -> None:
    found = read_feedback(b'{"id": "chatcmpl-12", "pick": 0}')
    assert (found.ask, found.verdict.pick, found.wait) == (12, 1, True)
    found = read_feedback(
        b'{"id": "chatcmpl-12", "rating": "bad", "index": 4, "reason": "r", "wait": false}'
    )
    assert (found.verdict.rate, found.verdict.index, found.verdict.reason) == ("bad", 5, "r")
    assert not found.wait
