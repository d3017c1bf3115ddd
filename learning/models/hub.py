"""Downloads a model from the Hugging Face hub: only the files that are needed, resumable, with checksums.

The hub is trusted for file sizes and checksums only; the downloaded folder is then read as untrusted
(learning.models.foreign). Left out: models that need a login.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError, VidyaError
from engine.storage.disk import demand_room, full_disk, is_full
from engine.storage.files import make_private_folder
from engine.storage.reading import shown
from learning.models.transfer import (
    DamagedDownload,
    HubUnreachable,
    Progress,
    counting,
    fetch_file,
    in_short,
    library,
)

HUB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
ENDPOINT: str | None = None
"""Address of the hub; None: the default of huggingface_hub. Tests set it."""
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_BESIDE = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"),
    *("README.md", "LICENSE", "LICENSE.txt", "LICENSE.md"),
)
"""Files that are downloaded besides the weights, if the hub has them."""
_TIMEOUT = 20.0
"""Seconds that a request for metadata may take."""


@dataclass(frozen=True)
class HubFile:
    """One file of a model, with its checksum."""

    name: str
    bytes: int
    sha256: str
    """Checksum of a large file (Git LFS); empty for a small file that git stores itself."""
    blob: str
    """Git's blob id, a SHA-1; the checksum of a file without `sha256`."""


@dataclass(frozen=True)
class HubModel:
    """The files of a model on the hub at one commit."""

    hub: str
    commit: str
    licence: str
    files: tuple[HubFile, ...]

    @property
    def bytes(self) -> int:
        """Size of all files together."""
        return sum(file.bytes for file in self.files)


def look_up(hub: str, revision: str | None = None) -> HubModel:
    """Asks the hub for the files of `hub` (owner/name) at a commit, or at the newest one.

    Raises HubUnreachable, and CheckpointError if the hub has no such public model in safetensors format.
    """
    hugging_face = library()
    with _translated_errors(hub):
        said = hugging_face.HfApi(endpoint=ENDPOINT).model_info(
            hub, revision=revision, timeout=_TIMEOUT, files_metadata=True, token=False
        )
        there = {one.rfilename: one for one in said.siblings or ()}
        names = _wanted(hub, there)
        files = tuple(_file(there[name]) for name in names)
        card = said.card_data or {}
        return HubModel(hub, str(said.sha), str(card.get("license") or ""), files)


def fetch(model: HubModel, folder: Path, progress: Progress) -> None:
    """Downloads all files into the folder. Keeps files that are already there with the right checksum, and
    resumes interrupted downloads. Raises HubUnreachable, DamagedDownload for a wrong checksum, and
    CheckpointError for a full disk."""
    done = 0
    demand_room(
        folder, model.bytes - sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    )
    with _translated_errors(model.hub, folder):
        make_private_folder(folder)
        for file in model.files:
            path = folder / file.name
            if not _is_right(path, file):
                path.unlink(missing_ok=True)
                _download(model, file, path, counting(done, model.bytes, progress))
                if not _is_right(path, file):
                    path.unlink(missing_ok=True)
                    raise DamagedDownload(
                        f"{model.hub}: {file.name} came with another checksum than the hub says, so it "
                        "was thrown away",
                        "do it again; if it happens twice, something between here and the hub "
                        "changes files",
                    )
            done += file.bytes
            progress(done, model.bytes)


def _download(model: HubModel, file: HubFile, path: Path, bar: type) -> None:
    """Downloads one file to `path`, resuming what is there."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(model.hub, file.name, revision=model.commit, endpoint=ENDPOINT)
    location = get_hf_file_metadata(url, token=False, timeout=_TIMEOUT).location
    headers = library().utils.build_hf_headers(token=False)
    fetch_file(location, path, bar, expected=file.bytes, headers=headers)


def _wanted(hub: str, there: dict[str, Any]) -> list[str]:
    """Names of the files to download, weights last. Raises CheckpointError if the model has no config.json or
    no weights in safetensors format."""
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
    """Whether the file exists with the right size and checksum."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size != file.bytes:
        return False
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % file.bytes)
    with path.open("rb") as data:
        while block := data.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == (file.sha256 or file.blob)


@contextmanager
def _translated_errors(hub: str, folder: Path | None = None) -> Iterator[None]:
    """Turns errors of the library, the network and the disk into CheckpointError or HubUnreachable.

    folder: where files are being written; None while only metadata is requested.
    """
    errors = library().errors
    try:
        yield
    except VidyaError:
        raise
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise CheckpointError(
            f"{hub}: the hub has no such model that everybody can read",
            "look at its name on huggingface.co, or download it yourself and import the folder",
        ) from error
    # the library does not wrap the errors of its http and xet clients, nor those of the system
    except Exception as error:
        if folder is not None and is_full(error):
            raise CheckpointError(*full_disk(folder)) from error
        kept = "what was fetched is kept and gone on with" if folder is not None else ""
        raise HubUnreachable(
            f"{hub}: the Hugging Face hub cannot be reached ({in_short(error)})",
            "; ".join(filter(None, ("do it again when the network is there", kept))),
        ) from error
