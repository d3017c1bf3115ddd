"""Who descends from whom, for tests that must leave no process behind."""

from __future__ import annotations

from pathlib import Path


def below(pid: int) -> set[int]:
    """Process ids of all that descend from one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2]
                parents[int(entry.name)] = int(after_name.split()[1])
            except (OSError, IndexError):
                continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}
