"""Reports each request when it has ended, and each error that nobody foresaw. Pure ASGI."""

from __future__ import annotations

import time
from collections.abc import Callable, MutableMapping
from typing import Any

from vidya_tui.server.guard import Application, Receive, Scope, Send

NOTED = "vidya"
"""Key in the scope of a request: a dict with more entries for its report."""
GONE = 499
"""Status in the report if the client was gone before its reply began; nothing is sent then."""


class RequestLog:
    """The outermost layer of the server."""

    def __init__(
        self,
        application: Application,
        report: Callable[[dict[str, Any]], None],
        unforeseen: Callable[[Exception], None],
    ) -> None:
        """report: gets event, method, path, status, seconds, and what NOTED has. unforeseen: gets an error
        that is a fault of the program."""
        self._application = application
        self._report, self._unforeseen = report, unforeseen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        began, status = time.monotonic(), 0
        noted: dict[str, Any] = scope.setdefault(NOTED, {})

        async def passed(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._application(scope, receive, passed)
        except Exception as error:
            self._unforeseen(error)
        finally:
            self._report(
                {
                    "event": "request",
                    "method": scope["method"],
                    "path": scope["path"],
                    "status": status or GONE,
                    "seconds": round(time.monotonic() - began, 3),
                    **noted,
                }
            )
