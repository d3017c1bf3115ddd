"""The error classes. Every error says what went wrong, where, and what to do next."""

from __future__ import annotations

import json


class VidyaError(Exception):
    """An error that a person can act on; shown as one line, never as a traceback.

    what: what is wrong and where. next_step: what to do about it; may be empty.
    """

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}; {self.next_step}" if self.next_step else self.what


def reason(error: BaseException) -> str:
    """The reason of an error on one line: the system's message without error number and file name, what is
    wrong with a text in plain words, or else the error's text or class."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not text in UTF-8, from byte {error.start + 1:,} on"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON, from line {error.lineno}, column {error.colno} on"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


class CheckpointError(VidyaError):
    """A model directory that cannot be read or written."""


class ConfigError(VidyaError):
    """A configuration, option or environment with which the work cannot be done."""


class DataError(VidyaError):
    """A file of text, lessons, conversations or problems that cannot be used."""


class PromptTooLong(DataError):
    """A prompt that leaves no room for an answer in the model's context."""


class JournalError(VidyaError):
    """The journal cannot be opened, read or written."""


class NotFound(VidyaError):
    """Something that the owner named (a conversation, an ask, a lesson, a model) does not exist."""


class NumericsError(VidyaError):
    """A loss, gradient or weight is not finite; raised before such weights are published."""


class ShapeError(ValueError):
    """Tensors passed to a maths function have the wrong shapes; a bug in the caller."""
