"""Fetches the files of a model from the Hugging Face hub: only what is needed, resumed, and checked.

What the hub says is not believed further than sizes and checksums; the folder is then read like any other
that comes from elsewhere (learning.models.foreign). Left out: models that need a login.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError, VidyaError, reason
from engine.storage.disk import demand_room, full_disk, is_full
from engine.storage.files import make_private_folder
from engine.storage.reading import shown

Progress = Callable[[int, int], None]
"""Called with the bytes that are there and those that there will be."""
HUB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
ENDPOINT: str | None = None
"""Where the hub is; huggingface_hub's own where none is named here."""
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_BESIDE = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"),
    *("README.md", "LICENSE", "LICENSE.txt", "LICENSE.md"),
)
"""What is fetched besides the weights, as far as it is there."""
_TIMEOUT = 20.0
"""Seconds until the hub has said what it has."""


class HubUnreachable(VidyaError):
    """The hub could not be asked, or a download broke off: another source may still do."""


@dataclass(frozen=True)
class HubFile:
    """One file of a model."""

    name: str
    bytes: int
    sha256: str
    """Of its bytes; empty where it is kept as git keeps texts ..."""
    blob: str
    """... and this is git's checksum."""


@dataclass(frozen=True)
class HubModel:
    """What the hub has of one model, at one commit."""

    hub: str
    commit: str
    licence: str
    files: tuple[HubFile, ...]

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(file.bytes for file in self.files)


def look_up(hub: str, revision: str | None = None) -> HubModel:
    """Asks the hub. Raises HubUnreachable, or CheckpointError where it has no such model in safetensors."""
    library = _library()
    with _told(hub):
        said = library.HfApi(endpoint=ENDPOINT).model_info(
            hub, revision=revision, timeout=_TIMEOUT, files_metadata=True, token=False
        )
        there = {one.rfilename: one for one in said.siblings or ()}
        names = _wanted(hub, there)
        files = tuple(_file(there[name]) for name in names)
        card = said.card_data or {}
        return HubModel(hub, str(said.sha), str(card.get("license") or ""), files)


def fetch(model: HubModel, folder: Path, progress: Progress) -> None:
    """Fetches all files into the folder. Those that are there and right stay, and what broke off is gone on
    with. Raises HubUnreachable, and CheckpointError for a disk that is full or a wrong checksum."""
    done = 0
    demand_room(
        folder, model.bytes - sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    )
    with _told(model.hub, folder):
        make_private_folder(folder)
        for file in model.files:
            path = folder / file.name
            if not _is_right(path, file):
                path.unlink(missing_ok=True)
                _download(model, file, path, _counting(done, model.bytes, progress))
                if not _is_right(path, file):
                    path.unlink(missing_ok=True)
                    raise CheckpointError(
                        f"{model.hub}: {file.name} came with another checksum than the hub says",
                        "do it again; if it happens twice, something between here and the hub "
                        "changes files",
                    )
            done += file.bytes
            progress(done, model.bytes)


def _download(model: HubModel, file: HubFile, path: Path, bar: type) -> None:
    """Fetches one file beside its place, from where it broke off, and then moves it there. The library's
    own hf_hub_download begins anew each time since its version 2."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    url = hf_hub_url(model.hub, file.name, revision=model.commit, endpoint=ENDPOINT)
    location = get_hf_file_metadata(url, token=False, timeout=_TIMEOUT).location
    part = path.with_name(f"{path.name}.part")
    if part.is_symlink() or (part.exists() and part.stat().st_size > file.bytes):
        part.unlink()
    with part.open("ab") as out:
        http_get(
            location,
            out,
            resume_size=out.tell(),
            headers=build_hf_headers(token=False),
            expected_size=file.bytes,
            tqdm_class=bar,
        )
    part.replace(path)


def _wanted(hub: str, there: dict[str, Any]) -> list[str]:
    """Names of the files to fetch, small ones first. Raises CheckpointError."""
    weights = [WEIGHTS] if WEIGHTS in there else sorted(filter(_SHARD.fullmatch, there))
    if weights and weights != [WEIGHTS]:
        weights.insert(0, INDEX)
    if not weights or "config.json" not in there or not set(weights) <= there.keys():
        has_gguf = any(name.endswith(".gguf") for name in there)
        raise CheckpointError(
            f"{hub}: has no config.json with safetensors weights",
            "download one of its .gguf files and import that"
            if has_gguf
            else "choose a model that was published in safetensors",
        )
    return [*(name for name in _BESIDE if name in there), *weights]


def _file(sibling: Any) -> HubFile:
    size, lfs = sibling.size, sibling.lfs
    if not isinstance(size, int) or size < 0:
        raise ValueError(f"no size of {shown(sibling.rfilename)}")
    sha256 = str(lfs.sha256) if lfs else ""
    return HubFile(sibling.rfilename, size, sha256, str(sibling.blob_id or ""))


def _is_right(path: Path, file: HubFile) -> bool:
    """Whether the file is there, as long as it should be, and has the checksum."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size != file.bytes:
        return False
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % file.bytes)
    with path.open("rb") as data:
        while block := data.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == (file.sha256 or file.blob)


def _counting(done: int, total: int, progress: Progress) -> type:
    """A progress bar for huggingface_hub that draws nothing and counts on from `done`."""
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


@contextmanager
def _told(hub: str, folder: Path | None = None) -> Iterator[None]:
    """What the library and the network raise, in the words of this program."""
    errors = _library().errors
    try:
        yield
    except VidyaError:
        raise
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise CheckpointError(
            f"{hub}: the hub has no such model that everybody can read",
            "look at its name on huggingface.co, or download it yourself and import the folder",
        ) from error
    except (
        Exception
    ) as error:  # of http, of xet, of the system: the library lets all of them through
        if folder is not None and is_full(error):
            raise CheckpointError(*full_disk(folder)) from error
        kept = "what was fetched is kept and gone on with" if folder is not None else ""
        raise HubUnreachable(
            f"{hub}: the Hugging Face hub cannot be reached ({_in_short(error)})",
            "; ".join(filter(None, ("do it again when the network is there", kept))),
        ) from error


def _in_short(error: BaseException) -> str:
    """The reason on one line: of a chain of errors the last cause that says something."""
    while error.__cause__ is not None and str(error.__cause__):
        error = error.__cause__
    text = reason(error) if isinstance(error, Exception) else str(error)
    return shown(text.splitlines()[0] if text.strip() else type(error).__name__, 120).strip("'")


def _library() -> Any:
    """The package huggingface_hub, quiet. Raises HubUnreachable where it is missing."""
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
