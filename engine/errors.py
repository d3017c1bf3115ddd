"""The one error tree. Every error says what went wrong, where, and what to do next."""

from __future__ import annotations


class VidyaError(Exception):
    """Something a person can act on; shown as one line, never as a traceback.

    `what` says what is wrong and where, `next_step` what to do about it.
    """

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}; {self.next_step}" if self.next_step else self.what


def reason(error: BaseException) -> str:
    """Why something could not be done, on one line: what the system says of it, without its numbers and
    without the name of the file, which the message has; else what the error says."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


class CheckpointError(VidyaError):
    """A model directory that cannot be read or written."""


class ConfigError(VidyaError):
    """A configuration that describes no model we can build."""


class DataError(VidyaError):
    """A file of text, lessons or conversations that cannot be learned from."""


class JournalError(VidyaError):
    """The journal cannot be opened, read or written."""


class NotFound(VidyaError):
    """Something named by the owner (a conversation, an ask, a lesson, a model) does not exist."""


class NumericsError(VidyaError):
    """Numbers that are not finite, caught before they reach published weights."""


class ShapeError(ValueError):
    """A maths function was given tensors whose shapes do not fit; a bug in the caller."""
