"""The errors that a client gets, in OpenAI's form."""

from __future__ import annotations

from typing import Any

from engine.errors import VidyaError

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    500: "server_error",
    503: "server_error",
}


class Refusal(VidyaError):
    """A request that is not answered.

    status: of HTTP, 400 to 599. param: the parameter at fault. code: a short name of the fault for programs.
    """

    def __init__(
        self,
        status: int,
        what: str,
        next_step: str = "",
        *,
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(what, next_step)
        self.status, self.param, self.code = status, param, code

    def body(self) -> dict[str, Any]:
        """The JSON object of the reply."""
        kind = _TYPES.get(self.status, "invalid_request_error")
        return {
            "error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        }
