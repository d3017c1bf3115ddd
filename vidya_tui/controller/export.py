"""Writes exported files, into the home's export folder or to a named path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import VidyaError
from engine.storage.disk import unwritable
from engine.storage.files import make_private_folder, write_atomically
from learning.home import Home
from learning.journal.conversations import Conversation, Listing, conversations, export

if TYPE_CHECKING:
    from learning.protocol.records import Turns
    from vidya_tui.session.session import Session


def write_export(path: Path, text: str) -> None:
    """Raises VidyaError."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise VidyaError(*unwritable(path, error, "choose another file", len(text))) from error


def check_free(path: Path | None, *, force: bool) -> None:
    """Raises VidyaError where a file exists that was not to be overwritten."""
    if path is not None and path.is_file() and not force:
        raise VidyaError(
            f"{path}: is there already", "add --force to write over it, or name another file"
        )


def exported(home: Home, name: str, text: str) -> Path:
    """Writes `name` into the home's export folder and returns its path. Raises VidyaError."""
    try:
        make_private_folder(home.exports_path)
    except OSError as error:
        raise VidyaError(*unwritable(home.exports_path, error, "make the home writable")) from error
    path = home.exports_path / name
    write_export(path, text)
    return path


def export_conversation(home: Home, found: Conversation, turns: Turns, form: str) -> Path:
    """Writes a conversation as "md" or "json" and returns the path. Raises VidyaError."""
    return exported(home, f"conversation-{found.id}.{form}", export(found, turns, form))


def export_open(home: Home, session: Session, form: str) -> Path:
    """Writes the open conversation, as it is shown, as "md" or "json", and returns the path. Raises
    VidyaError."""
    number = session.conversation
    found = conversations(session.journal, Listing((), {}), [] if number is None else [number])
    if not found:
        raise VidyaError("nothing was said yet", "type a message, then press Enter")
    return export_conversation(home, found[0], session.turns, form)
