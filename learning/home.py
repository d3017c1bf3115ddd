"""The home folder of one owner: paths of its well-known files, and its locks.

Left out: the contents of the files. POSIX only: a lock is an `flock`, which the system releases when the
program dies, so `kill -9` never leaves a home locked.
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
        """Creates the folder, readable by its owner only, if it is missing.

        Raises HomeError if it cannot be created or written.
        """
        path = path or usual_folder()
        advice = "make it writable, or name another folder with --home or VIDYA_HOME"
        try:
            self.path = path.expanduser().resolve()
            str(self.path).encode()  # the weights cannot be written under another name
            make_private_folder(self.path)
        except UnicodeEncodeError as error:
            what = f"home {path}: its name is not UTF-8 text, or the locale is not UTF-8"
            raise HomeError(what, "name another folder, or set LC_ALL=C.UTF-8") from error
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
        """The owner's book; created with the first picked or typed answer."""
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
        """A marker; exists once the welcome was shown or skipped."""
        return self.path / "welcomed"

    @property
    def first_frame_path(self) -> Path:
        """The app's last first frame, shown while the app loads."""
        return self.path / "first_frame"

    @property
    def unsent_path(self) -> Path:
        """The text that was in the prompt when the app was closed; restored at the next start."""
        return self.path / "unsent.txt"

    @property
    def lesson_vectors_path(self) -> Path:
        """The owner's lessons as vectors (learning.teacher.lesson_index). Made again if it is gone."""
        return self.path / "lesson_vectors.safetensors"

    @property
    def book_vectors_path(self) -> Path:
        """The lines of the shipped book as vectors, which take most of a second to compute."""
        return self.path / "book_vectors.safetensors"

    @property
    def log_path(self) -> Path:
        return self.path / "vidya.log"

    @property
    def exports_path(self) -> Path:
        """Holds exports that the owner requested: conversations, plots, tables."""
        return self.path / "exports"

    @property
    def downloads_path(self) -> Path:
        """The folder of downloads of models, running or interrupted."""
        return self.path / "downloads"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Locks the home for this program. Raises HomeError if another program holds the lock."""
        with self._locked("lock", patience=0.0):
            yield

    @contextlib.contextmanager
    def learning(self, patience: float = 30.0) -> Iterator[None]:
        """Locks the weights for this teacher.

        The interface holds the lock on the home; if it was killed, its worker may still be saving, so the
        next teacher waits up to `patience` seconds. Raises HomeError after that.
        """
        with self._locked("learning.lock", patience):
            yield

    @contextlib.contextmanager
    def _locked(self, name: str, patience: float) -> Iterator[None]:
        path = self.path / name
        deadline = time.monotonic() + patience
        try:
            # Python opens files close-on-exec, so a worker process does not inherit the lock
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
            with contextlib.suppress(
                OSError
            ):  # on a full disk the lock holds without the process id
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"{os.getpid()}\n".encode("ascii"), 0)
            yield
        finally:
            os.close(handle)


def usual_folder() -> Path:
    """The default home folder; it need not exist."""
    return Path(os.environ.get("VIDYA_HOME") or platformdirs.user_data_dir("vidya"))


def _taken(handle: int) -> bool:
    """Tries to take the lock without waiting; True on success."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
