"""Completions: their form, their place in the journal, and who waits for whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from learning.protocol.events import Failed, MessageCut
from learning.protocol.records import Turn
from learning.protocol.requests import Cancel, Generate, SetLearning
from tests.vidya_tui.server.conftest import Behind, Caller, Serve, Served
from vidya_tui.server import dispatcher as module
from vidya_tui.settings.file import Settings


def chunks(text: str) -> Iterator[dict[str, Any]]:
    *events, end = text.strip().split("\n\n")
    assert end == "data: [DONE]"
    for event in events:
        yield json.loads(event.removeprefix("data: "))


def sent(served: Served) -> Generate:
    request = served.teacher.sent(Generate)[-1]
    assert isinstance(request, Generate)
    return request


def test_a_reply_has_the_form_that_clients_read(serve: Serve) -> None:
    served = serve()
    reply = served.ask(n=2)
    assert (reply["id"], reply["object"], reply["model"]) == (
        "chatcmpl-1",
        "chat.completion",
        "tiny",
    )
    assert reply["created"] == int(served.journal.ask(1).created)
    assert reply["choices"] == [
        {
            "index": index,
            "message": {"role": "assistant", "content": text, "refusal": None},
            "finish_reason": "stop",
            "logprobs": None,
            "certainty": 0.61,
            "recalled": None,
            "said_at": None,
        }
        for index, text in enumerate(("one answer", "two answers"))
    ]
    assert reply["usage"] == {"prompt_tokens": 0, "completion_tokens": 4, "total_tokens": 4}
    assert served.rows == [
        {
            "event": "request",
            "method": "POST",
            "path": "/v1/chat/completions",
            "status": 200,
            "seconds": served.rows[0]["seconds"],
            "ask": 1,
        }
    ]


def test_a_reply_names_where_an_answer_comes_from(serve: Serve) -> None:
    served = serve()
    served.teacher.recalled, served.teacher.said_at = {2: 12}, {1: 1.5}
    reply = served.ask(n=2)
    assert [choice["recalled"] for choice in reply["choices"]] == [None, 12]
    assert [choice["said_at"] for choice in reply["choices"]] == [1.5, None]
    body = {"messages": [{"role": "user", "content": "hello"}], "n": 2, "stream": True}
    parts = [
        one["choices"][0]
        for one in chunks(served.client.post("/v1/chat/completions", json=body).text)
    ]
    ends = {one["index"]: one["recalled"] for one in parts if one["finish_reason"]}
    assert ends == {0: None, 1: 12}


def test_a_stream_sends_each_choice_when_it_is_whole(serve: Serve) -> None:
    served = serve("a longer answer", "no")
    body = {"messages": [{"role": "user", "content": "hello"}], "n": 2, "stream": True}
    reply = served.client.post("/v1/chat/completions", json=body)
    assert reply.headers["content-type"].startswith("text/event-stream")
    found = list(chunks(reply.text))
    assert {one["object"] for one in found} == {"chat.completion.chunk"}
    assert {one["id"] for one in found} == {"chatcmpl-1"}
    parts = [one["choices"][0] for one in found]
    assert [(part["index"], part["delta"].get("role")) for part in parts[:2]] == [
        (0, "assistant"),
        (1, "assistant"),
    ]
    assert [(part["index"], part["delta"].get("content")) for part in parts[2:]] == [
        (1, "no"),
        (1, None),
        (0, "a longer answer"),
        (0, None),
    ]
    assert [part["finish_reason"] for part in parts[2:]] == [None, "stop", None, "stop"]
    assert all("usage" not in one for one in found)
    reply = served.client.post(
        "/v1/chat/completions", json={**body, "stream_options": {"include_usage": True}}
    )
    last = list(chunks(reply.text))[-1]
    assert last["choices"] == [] and last["usage"]["completion_tokens"] == 4


def test_what_a_request_asks_for_reaches_the_teacher(serve: Serve) -> None:
    served = serve(settings=Settings(recall=True, temperature=0.3, max_tokens=20), seed=5)
    served.ask()
    drawn = sent(served)
    assert (drawn.n, drawn.seed, drawn.recall, drawn.offers) == (1, 5, True, False)
    assert (drawn.sampling.temperature, drawn.sampling.max_tokens) == (0.3, 20)
    assert (drawn.stops, drawn.system) == ((), "")
    served.ask(n=9, temperature=0, top_p=0.5, max_tokens=7, seed=8, stop=["."])
    drawn = sent(served)
    assert (drawn.n, drawn.seed, drawn.stops) == (9, 8, (".",))
    assert (drawn.sampling.temperature, drawn.sampling.top_p) == (0.0, 0.5)
    assert drawn.sampling.max_tokens == 7


def test_learning_goes_on_as_the_settings_say(serve: Serve) -> None:
    served = serve(settings=Settings(eager="in pauses", left_standing=True))
    (how,) = served.teacher.sent(SetLearning)
    assert how == SetLearning(True, in_pauses=True, weak=("continuation",))


def test_a_conversation_goes_on_where_the_server_answered_it(serve: Serve) -> None:
    served = serve()
    said = [{"role": "user", "content": "hello"}]
    chosen = served.talk(*said, n=3)["choices"][1]["message"]
    served.talk(*said, chosen, {"role": "user", "content": "go on"})
    journal, (first, second) = served.journal, (served.journal.ask(1), served.journal.ask(2))
    assert second.conversation == first.conversation and second.parent == 1
    assert second.turns == (
        Turn("user", "hello"),
        Turn("assistant", "two answers"),
        Turn("user", "go on"),
    )
    assert journal.answer(1) == "two answers" and journal.judgements(1) == []
    # another wording is another branch
    served.talk(*said, chosen, {"role": "user", "content": "go on please"})
    assert (journal.ask(3).conversation, journal.ask(3).parent) == (first.conversation, 1)


@pytest.mark.parametrize("others", [0, 1])
def test_the_answer_stays_where_unchosen_ones_are_not_kept(serve: Serve, others: int) -> None:
    served = serve(settings=Settings(keep_unchosen=False))
    said = [{"role": "user", "content": "hello"}]
    chosen = served.talk(*said, n=3)["choices"][1]["message"]
    for _ in range(others):  # of another client: deletes the candidates
        served.ask("something else")
    served.talk(*said, chosen, {"role": "user", "content": "go on"})
    assert served.journal.answer(1) == "two answers" and served.journal.judgements(1) == []
    kept = [one.text for one in served.journal.candidates(1)]
    assert kept == ([] if others else ["two answers"])


@pytest.mark.parametrize("answer", ["never said", "two answers "])
def test_what_the_server_did_not_answer_begins_a_conversation(serve: Serve, answer: str) -> None:
    served = serve()
    served.talk({"role": "user", "content": "hello"}, n=1)
    turns = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "go on"},
    ]
    served.talk(*turns)
    first, second = served.journal.ask(1), served.journal.ask(2)
    assert second.conversation != first.conversation and second.parent is None
    assert len(second.turns) == 3


def test_an_answer_that_was_judged_stays_when_the_client_goes_on_with_another(
    serve: Serve,
) -> None:
    served = serve()
    said = [{"role": "user", "content": "hello"}]
    chosen = served.talk(*said, n=3)["choices"][1]["message"]
    served.judge(1, pick=0)
    served.talk(*said, chosen, {"role": "user", "content": "go on"})
    assert served.journal.answer(1) == "one answer"
    assert served.journal.ask(2).turns[1].text == "two answers"
    # what was typed is an answer to go on from too
    served.judge(1, say="typed")
    served.talk(*said, {"role": "assistant", "content": "typed"}, said[0])
    assert served.journal.ask(3).parent == 1 and served.journal.answer(1) == "typed"


def test_a_system_message_is_honoured_or_told(serve: Serve) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]
    served = serve(takes_system=True)
    reply = served.client.post("/v1/chat/completions", json={"messages": messages})
    assert sent(served).system == "Be brief." and "x-vidya-note" not in reply.headers
    served = serve()
    for stream in (False, True):
        body = {"messages": messages, "stream": stream}
        reply = served.client.post("/v1/chat/completions", json=body)
        assert sent(served).system == ""
        assert "has no system prompt" in reply.headers["x-vidya-note"]
        assert "has no system prompt" in served.told[-1]


def test_a_message_that_was_cut_is_told(serve: Serve) -> None:
    served = serve(manual=True)
    asked = served.behind("a long message")
    served.until(lambda: bool(served.teacher.sent(Generate)))
    served.place.events.put(MessageCut(1, 1000, 600))
    served.until(lambda: bool(served.told))
    assert "it reads 400" in served.told[0]
    served.teacher.finish()
    asked.result()


def test_a_second_request_waits_and_each_gets_its_own(serve: Serve) -> None:
    served = serve(manual=True)
    asked = []
    for number, text in enumerate(("first", "second"), 1):
        served.teacher.texts = (f"the {text} answer",)
        asked.append(served.behind(text))
        served.until(lambda number=number: len(served.teacher.sent(Generate)) == number)  # type: ignore[misc]
    assert all(one.is_alive() for one in asked)
    served.teacher.finish()
    texts = [one.result()["choices"][0]["message"]["content"] for one in asked]
    assert texts == ["the first answer", "the second answer"]


def test_too_many_requests_are_sent_away(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 1)
    served = serve(manual=True)
    asked = served.behind("first")
    served.until(lambda: bool(served.teacher.sent(Generate)))
    body = {"messages": [{"role": "user", "content": "second"}]}
    reply = served.client.post("/v1/chat/completions", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "busy")
    assert reply.headers["retry-after"] == "1"
    served.teacher.finish()
    asked.result()
    served.teacher.manual = False
    served.ask("third")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("begun", [False, True])
async def test_a_client_that_goes_away_cancels_its_answer(
    serve: Serve, stream: bool, begun: bool
) -> None:
    served = serve(manual=True)
    body = {"messages": [{"role": "user", "content": "hello"}], "stream": stream}
    caller = Caller("/v1/chat/completions", body)
    # the dispatcher lives in the loop of the test's client
    portal = served.client.portal
    assert portal is not None
    call = portal.start_task_soon(served.app, caller.scope, caller.receive, caller.send)
    served.until(lambda: bool(served.teacher.sent(Generate)))
    if begun:
        served.teacher.pump(1)
        served.until(lambda: bool(caller.sent) or not stream)
    portal.call(caller.gone.set)
    await asyncio.to_thread(call.result, 10)
    assert served.teacher.sent(Cancel) == [Cancel(1)]
    served.until(lambda: not served.dispatcher._runs)
    assert [one.ending for one in served.journal.candidates(1)] == ["cancelled"]
    assert served.rows[-1]["status"] == (200 if stream and begun else 499)
    assert served.faults == []
    served.teacher.manual = False
    served.ask("the next is answered")


@pytest.mark.parametrize(("refused", "status"), [(True, 400), (False, 500)])
@pytest.mark.parametrize("stream", [False, True])
def test_what_the_teacher_cannot_answer_is_told(
    serve: Serve, refused: bool, status: int, stream: bool
) -> None:
    served = serve(manual=True)
    body = {"messages": [{"role": "user", "content": "hello"}], "stream": stream}

    def ask() -> dict[str, Any]:
        reply = served.client.post("/v1/chat/completions", json=body)
        return {"status": reply.status_code, **reply.json()["error"]}

    asked = Behind(ask)
    served.until(lambda: bool(served.teacher.sent(Generate)))
    served.place.events.put(Failed("generate", "no room", "shorten it", 1, refused))
    found = asked.result()
    assert (found["status"], found["message"]) == (status, "no room; shorten it")


def test_other_routes_and_models_are_named(serve: Serve) -> None:
    served = serve()
    client = served.client
    assert client.get("/health").json() == {"status": "ok"}
    (model,) = client.get("/v1/models").json()["data"]
    assert model == client.get("/v1/models/tiny").json()
    assert (model["id"], model["object"]) == ("tiny", "model")
    for path in ("/", "/v1/completions", "/v1/models/", "/v1/models/gpt%1b4", "/%0ax"):
        error = client.get(path)
        assert error.status_code == 404, path
        assert error.json()["error"]["type"] == "not_found_error"
        assert "\x1b" not in error.text
    error = client.get("/v1/feedback").json()["error"]
    assert "Method Not Allowed" in error["message"] and "/v1/chat/completions" in error["message"]
    body = {"messages": [{"role": "user", "content": "x"}], "model": "gpt"}
    reply = client.post("/v1/chat/completions", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "model_not_found")
    assert served.teacher.sent(Generate) == []
    served.ask(model="tiny")


def test_a_body_may_have_a_mebibyte(serve: Serve) -> None:
    served = serve()
    text = "x" * 1_000_000
    served.ask(text)
    body = json.dumps({"messages": [{"role": "user", "content": text * 2}]})
    for content in (body, (piece.encode() for piece in (body[:10], body[10:]))):  # a length, none
        reply = served.client.post("/v1/chat/completions", content=content)  # type: ignore[arg-type]
        assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")
    assert len(served.teacher.sent(Generate)) == 1


def test_strangers_are_refused(serve: Serve) -> None:
    served = serve(key="secret")
    client = served.client
    assert client.get("/v1/models").status_code == 401
    right = {"authorization": "Bearer secret"}
    assert client.get("/v1/models", headers=right).status_code == 200
    for wrong in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        reply = client.get("/v1/models", headers={**right, **wrong})
        assert reply.status_code == 403
        assert not [name for name in reply.headers if name.startswith("access-control")]
    asks = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    assert client.options("/v1/feedback", headers=asks).status_code == 403


def test_a_fault_of_the_program_reaches_no_client(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()

    def broken(*_: object) -> None:
        raise RuntimeError("details of the inside")

    monkeypatch.setattr(served.dispatcher, "ask", broken)
    body = {"messages": [{"role": "user", "content": "x"}]}
    reply = served.client.post("/v1/chat/completions", json=body)
    assert reply.status_code == 500 and "inside" not in reply.text
    assert reply.json()["error"]["message"].startswith("the server failed (RuntimeError)")
    assert [str(fault) for fault in served.faults] == ["details of the inside"]
    assert served.rows[-1]["status"] == 500


def test_what_ends_with_the_server_is_told(serve: Serve) -> None:
    served = serve(manual=True)
    body = {"messages": [{"role": "user", "content": "hello"}]}
    asked = Behind(
        lambda: dict(served.client.post("/v1/chat/completions", json=body).json()["error"])
    )
    served.until(lambda: bool(served.teacher.sent(Generate)))
    assert served.client.portal is not None
    served.client.portal.call(served.dispatcher.stop)
    assert asked.result()["message"] == "the server is ending; ask again when it runs"
    assert served.teacher.sent(Cancel)[0] == Cancel(1)
    assert served.client.post("/v1/chat/completions", json=body).status_code == 503
