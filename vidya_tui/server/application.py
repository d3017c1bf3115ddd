"""The routes of `vidya serve`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from engine.errors import VidyaError
from engine.storage.reading import shown
from vidya_tui.server import replies
from vidya_tui.server.dispatcher import Dispatcher, Run
from vidya_tui.server.guard import Application, Guard, Receive, Scope, Send, send_refusal
from vidya_tui.server.log import GONE, NOTED, RequestLog
from vidya_tui.server.reading import read_completion, read_feedback
from vidya_tui.server.refusal import Refusal

Found = TypeVar("Found")

LARGEST = 1 << 20
"""Most bytes of a body."""
DRAINED = 16 << 20
"""Bytes of a larger body that are read and dropped, so that the client reads the refusal."""
NOTE = "x-vidya-note"
"""Header that says what of the request was not followed."""


def application(
    dispatcher: Dispatcher,
    key: str | None,
    report: Callable[[dict[str, Any]], None],
    unforeseen: Callable[[Exception], None],
) -> Application:
    """The ASGI application. key: that clients must send; None: none. report, unforeseen: see RequestLog."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        dispatcher.open()
        try:
            yield
        finally:
            dispatcher.close()

    async def health(_: Request) -> Response:
        return _json({"status": "ok"})

    async def models(_: Request) -> Response:
        return _json({"object": "list", "data": [replies.model(dispatcher.model)]})

    async def model(request: Request) -> Response:
        _demand(request.path_params["name"], dispatcher)
        return _json(replies.model(dispatcher.model))

    async def completions(request: Request) -> Response:
        wanted = read_completion(await _body(request))
        if wanted.model is not None:
            _demand(wanted.model, dispatcher)
        run = dispatcher.ask(wanted)
        request.scope[NOTED]["ask"] = run.ask.id
        try:
            await _unless_gone(request.receive, run.until_begun())
            headers = {NOTE: "; ".join(run.notes)} if run.notes else {}
            if wanted.stream:
                return _Stream(dispatcher, run, usage=wanted.usage, headers=headers)
            await _unless_gone(request.receive, _all(run))
        except BaseException:
            dispatcher.cancel(run)
            raise
        assert run.done is not None
        return _json(replies.completion(run.ask, dispatcher.model, run.answers, run.done), headers)

    async def feedback(request: Request) -> Response:
        judged = dispatcher.judge(read_feedback(await _body(request)))
        return _json(await _unless_gone(request.receive, judged))

    routes = [
        Route("/health", health),
        Route("/v1/models", models),
        Route("/v1/models/{name:path}", model),
        Route("/v1/chat/completions", completions, methods=["POST"]),
        Route("/v1/feedback", feedback, methods=["POST"]),
    ]
    paths = ", ".join(dict.fromkeys(route.path.replace("{name:path}", "NAME") for route in routes))

    async def refused(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            what = f"{request.method} {shown(request.url.path)}: {error.detail}"
            error = Refusal(error.status_code, what, f"there are {paths}")
        elif isinstance(error, VidyaError) and not isinstance(error, Refusal):
            error = Refusal(500, error.what, error.next_step)
        elif not isinstance(error, VidyaError):  # Starlette raises it again for RequestLog
            what = f"the server failed ({type(error).__name__})"
            error = Refusal(500, what, "what it prints says more")
        assert isinstance(error, Refusal)
        return _RefusalReply(error)

    async def gone(_: Request, __: Exception) -> Response:
        return Response(status_code=GONE)

    handlers: dict[Any, Any] = {
        VidyaError: refused,
        HTTPException: refused,
        ClientDisconnect: gone,
        Exception: refused,
    }
    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    inner.router.redirect_slashes = False
    return RequestLog(Guard(inner, key), report, unforeseen)


def _demand(name: str, dispatcher: Dispatcher) -> None:
    """Raises Refusal unless this is the model that answers."""
    if name != dispatcher.model:
        what = f"this server has no model {shown(name)}"
        advice = f"it has {dispatcher.model}; `vidya serve --model NAME` serves another"
        raise Refusal(404, what, advice, param="model", code="model_not_found")


def _json(value: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    return Response(replies.encoded(value), media_type="application/json", headers=headers)


class _RefusalReply(Response):
    """A refusal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(status_code=refusal.status)
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_refusal(self._refusal, send)


class _Stream(Response):
    """Server-sent events: each choice when it is whole and has passed the checks. A client that goes away
    ends its ask."""

    media_type = "text/event-stream"

    def __init__(
        self, dispatcher: Dispatcher, run: Run, *, usage: bool, headers: dict[str, str]
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", **headers})
        del self.headers["content-length"]
        self._dispatcher, self._run, self._usage = dispatcher, run, usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        try:
            await _unless_gone(receive, self._send(send))
        except ClientDisconnect:
            scope[NOTED]["gone"] = True
        finally:
            self._dispatcher.cancel(self._run)

    async def _send(self, send: Send) -> None:
        async for text in self._events():
            body = text.encode("ascii")
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _events(self) -> AsyncIterator[str]:
        run, model = self._run, self._dispatcher.model
        yield replies.opening(run.ask, model, len(run.session.cards))
        try:
            while answer := await run.next():
                yield replies.piece(run.ask, model, answer)
        except Refusal as refusal:
            yield replies.event(refusal.body())
            return
        if self._usage and run.done:
            yield replies.usage_chunk(run.ask, model, run.answers, run.done)
        yield replies.END


async def _all(run: Run) -> None:
    while await run.next():
        pass


async def _body(request: Request) -> bytes:
    """The body. Raises Refusal if it is too large."""
    body, size = bytearray(), 0
    async for piece in request.stream():
        size += len(piece)
        if size <= LARGEST:
            body += piece
        if size > DRAINED:
            break
    if size > LARGEST:
        what = f"the body has more than {LARGEST:,} bytes"
        raise Refusal(413, what, "send a shorter conversation", code="too_large")
    return bytes(body)


async def _unless_gone(receive: Receive, work: Coroutine[Any, Any, Found]) -> Found:
    """The result of the work. Cancels it and raises ClientDisconnect if the client goes away first."""
    task, left = asyncio.create_task(work), asyncio.create_task(_until_gone(receive))
    try:
        await asyncio.wait({task, left}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        left.cancel()
        await asyncio.gather(task, left, return_exceptions=True)


async def _until_gone(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
