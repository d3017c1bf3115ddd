"""Where everything of one owner lives: a folder, its well-known files, and the lock on it.

Knows paths, not what the files say. POSIX only: the lock is an `flock`, which the system gives
back when the program dies, so a `kill -9` never leaves a home locked.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from engine.errors import VidyaError
from engine.storage.files import make_private_folder


class HomeError(VidyaError):
    """The home folder cannot be used, or another program uses it."""


class Home:
    """The folder named by `path`, else by `VIDYA_HOME`, else the platform's user data directory."""

    def __init__(self, path: Path | None = None) -> None:
        """Makes the folder (readable by its owner only) where it is missing.

        Raises HomeError where it cannot be made or written.
        """
        path = path or usual_folder()
        advice = "make it writable, or name another folder with --home or VIDYA_HOME"
        try:
            self.path = path.expanduser().resolve()
            make_private_folder(self.path)
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise HomeError(f"home {path}: cannot be made ({reason})", advice) from error
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise HomeError(f"home {self.path}: cannot be written", advice)

    @property
    def journal_path(self) -> Path:
        return self.path / "journal.sqlite3"

    @property
    def book_path(self) -> Path:
        """The owner's own book; it appears with the first answer that is picked or typed."""
        return self.path / "book.txt"

    @property
    def models_path(self) -> Path:
        """Holds one folder per model."""
        return self.path / "models"

    @property
    def settings_path(self) -> Path:
        return self.path / "settings.toml"

    @property
    def welcomed_path(self) -> Path:
        """Is there once the owner was shown, or did not want to be shown, how to begin."""
        return self.path / "welcomed"

    @property
    def first_frame_path(self) -> Path:
        """What the app's first frame looked like, to be shown while it is loaded."""
        return self.path / "first_frame"

    @property
    def unsent_path(self) -> Path:
        """What stood in the prompt when the app was left, until the next start."""
        return self.path / "unsent.txt"

    @property
    def log_path(self) -> Path:
        return self.path / "vidya.log"

    @property
    def exports_path(self) -> Path:
        """Holds copies that the owner asked for: conversations, plots, tables."""
        return self.path / "exports"

    @property
    def downloads_path(self) -> Path:
        """Holds models that are being fetched, and those whose download broke off."""
        return self.path / "downloads"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the home for this program alone. Raises HomeError where another has it."""
        with self._locked("lock", patience=0.0):
            yield

    @contextlib.contextmanager
    def learning(self, patience: float = 30.0) -> Iterator[None]:
        """Holds the weights for this teacher alone.

        The lock of the home is the interface's: where that was killed, its worker may still be
        saving, so the next one waits a moment. Raises HomeError where it takes too long.
        """
        with self._locked("learning.lock", patience):
            yield

    @contextlib.contextmanager
    def _locked(self, name: str, patience: float) -> Iterator[None]:
        path = self.path / name
        deadline = time.monotonic() + patience
        try:
            # Python opens files close-on-exec: a worker process does not inherit the lock.
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise HomeError(
                f"home {self.path}: cannot be locked ({error.strerror})",
                "make it writable, or name another folder with --home or VIDYA_HOME",
            ) from error
        try:
            try:
                while not _taken(handle) and time.monotonic() < deadline:
                    time.sleep(0.05)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.read(handle, 32).decode("ascii", "replace").strip() or "unknown"
                raise HomeError(
                    f"{self.path} is in use by another vidya (process {holder})",
                    "close it, or use --home for a second one",
                ) from error
            except OSError as error:
                raise HomeError(
                    f"home {self.path}: cannot be locked ({error.strerror})",
                    "put it on a file system that has locks, with --home or VIDYA_HOME",
                ) from error
            with contextlib.suppress(OSError):  # a full disk: the lock holds without the number
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"{os.getpid()}\n".encode("ascii"), 0)
            yield
        finally:
            os.close(handle)


def usual_folder() -> Path:
    """The folder of a home where none is named; it need not be there."""
    return Path(os.environ.get("VIDYA_HOME") or platformdirs.user_data_dir("vidya"))


def _taken(handle: int) -> bool:
    """Whether the lock could be had at once."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
