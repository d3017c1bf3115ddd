"""Fetches one file over HTTP into a `.part` file, from where an earlier attempt broke off.

A server that ignores the range sends the whole file again. Left out: checksums, which the callers compare.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError, VidyaError, reason
from engine.storage.reading import shown

Progress = Callable[[int, int], None]
"""Called with (bytes downloaded so far, bytes in total)."""


class HubUnreachable(VidyaError):
    """The hub cannot be reached or a download was interrupted. Another source may still work."""


class DamagedDownload(CheckpointError):
    """What was downloaded is not what it should be, and was thrown away. Another source may still work."""


def fetch_file(
    url: str,
    path: Path,
    bar: type,
    *,
    expected: int | None = None,
    headers: dict[str, str] | None = None,
) -> None:
    """Downloads one file to `path` with the suffix `.part`, resuming what is there, and then renames it.

    hf_hub_download of huggingface_hub 2 is not used, because it starts every download again. bar: see
    `counting`. expected: its size in bytes, if it is known. Raises what the library and the system raise.
    """
    library()
    from huggingface_hub.file_download import http_get

    part = part_of(path)
    if part.is_symlink() or (expected is not None and bytes_in(part) > expected):
        part.unlink()
    with part.open("ab") as out:
        http_get(
            url,
            out,
            resume_size=out.tell(),
            headers=headers or {},
            expected_size=expected,
            tqdm_class=bar,
        )
    part.replace(path)


def part_of(path: Path) -> Path:
    """Where a file lies until it is complete."""
    return path.with_name(f"{path.name}.part")


def bytes_in(path: Path) -> int:
    """Size of a file; 0 if there is none."""
    return path.stat().st_size if path.is_file() else 0


def counting(done: int, total: int, progress: Progress) -> type:
    """A subclass of tqdm for huggingface_hub that draws nothing and calls `progress`.

    done: bytes of the files downloaded before this one. total: bytes of all files.
    """
    from tqdm.auto import tqdm

    class Counting(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "disable": True})
            self._there = int(kwargs.get("initial") or 0)

        def update(self, n: float | None = 1) -> bool | None:
            self._there += int(n or 0)
            progress(min(done + self._there, total), total)
            return None

    return Counting


def in_short(error: BaseException) -> str:
    """One line about an error: its deepest cause that has a message."""
    while error.__cause__ is not None and str(error.__cause__):
        error = error.__cause__
    text = reason(error) if isinstance(error, Exception) else str(error)
    return shown(text.splitlines()[0] if text.strip() else type(error).__name__, 120).strip("'")


def library() -> Any:
    """The package huggingface_hub with warnings switched off. Raises HubUnreachable if it is not
    installed."""
    try:
        import huggingface_hub
        import huggingface_hub.errors
        import huggingface_hub.utils.logging
    except ImportError as error:
        raise HubUnreachable(
            "the hub's package huggingface_hub is not installed", "pip install huggingface_hub"
        ) from error
    huggingface_hub.utils.logging.set_verbosity_error()
    return huggingface_hub
