"""Resource use of a process, from Linux's /proc; None on other systems."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_PROC = Path("/proc")


def resident_bytes(pid: int) -> int | None:
    """Resident memory of the process in bytes, including shared pages."""
    try:
        for line in (_PROC / str(pid) / "status").read_text("utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def forget_peak() -> None:
    """Resets the peak for `peak_bytes` of this process, if the system supports it."""
    with contextlib.suppress(OSError):
        (_PROC / "self" / "clear_refs").write_text("5")


def peak_bytes() -> int | None:
    """Peak resident memory of this process in bytes."""
    try:
        for line in (_PROC / "self" / "status").read_text("utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def cpu_seconds(pid: int) -> float | None:
    """Processor time of all its threads so far, in seconds."""
    fields = _stat(_PROC / str(pid) / "stat")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else None


def computing(pid: int) -> bool:
    """True if any of its threads is running or waiting for a core."""
    try:
        threads = os.listdir(_PROC / str(pid) / "task")
    except OSError:
        return False
    stats = (_stat(_PROC / str(pid) / "task" / thread / "stat") for thread in threads)
    return any(fields[0] == "R" for fields in stats if fields)


def children(pid: int) -> list[int]:
    """Ids of its living child processes, oldest first."""
    found = []
    for folder in _PROC.iterdir() if _PROC.is_dir() else ():
        if folder.name.isdigit():
            fields = _stat(folder / "stat")
            if fields and int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(folder.name))
    return sorted(found)


def _stat(path: Path) -> list[str]:
    """The fields of a stat file from the third on (the second is a name with arbitrary characters)."""
    try:
        return path.read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []


def descendants(pid: int) -> set[int]:
    """Ids of its child processes, their children, and so on."""
    found: set[int] = set()
    new = children(pid)
    while new:
        found.update(new)
        new = [child for parent in new for child in children(parent) if child not in found]
    return found
