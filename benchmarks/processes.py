"""What a process uses, as Linux tells it in /proc. Elsewhere there is nothing to tell: None."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_PROC = Path("/proc")


def resident_bytes(pid: int) -> int | None:
    """Memory of the process that is in RAM, shared pages included."""
    try:
        for line in (_PROC / str(pid) / "status").read_text("utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def forget_peak() -> None:
    """`peak_bytes` of this process counts from now on, where the system can be told so."""
    with contextlib.suppress(OSError):
        (_PROC / "self" / "clear_refs").write_text("5")


def peak_bytes() -> int | None:
    """The most that this process has had in RAM at once."""
    try:
        for line in (_PROC / "self" / "status").read_text("utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def cpu_seconds(pid: int) -> float | None:
    """Processor time of all its threads so far."""
    fields = _stat(_PROC / str(pid) / "stat")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else None


def computing(pid: int) -> bool:
    """Whether any thread of it runs, or would if it had a core, in this moment."""
    try:
        threads = os.listdir(_PROC / str(pid) / "task")
    except OSError:
        return False
    stats = (_stat(_PROC / str(pid) / "task" / thread / "stat") for thread in threads)
    return any(fields[0] == "R" for fields in stats if fields)


def children(pid: int) -> list[int]:
    """Processes that it started and that live, oldest first."""
    found = []
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            fields = _stat(folder / "stat")
            if fields and int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(folder.name))
    return sorted(found)


def _stat(path: Path) -> list[str]:
    """The fields of a stat file from the third on (the second is a name that may hold anything)."""
    try:
        return path.read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []


def descendants(pid: int) -> set[int]:
    """Processes that it started, that those started, and so on."""
    found: set[int] = set()
    new = children(pid)
    while new:
        found.update(new)
        new = [child for parent in new for child in children(parent) if child not in found]
    return found
