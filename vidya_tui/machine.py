"""Environment that torch has to find when it is loaded. Imports no torch."""

from __future__ import annotations

from collections.abc import MutableMapping

HUGE_PAGES = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
"""For the weights; read when a process starts, so it works for a child only."""
SLEEPING_THREADS = ("OMP_WAIT_POLICY", "passive")
"""Torch's threads sleep while they wait for each other. Spinning, they keep the core that the thread
they wait for needs: beside one other busy process a lesson took 15 to 40 times as long."""


def prepare(environment: MutableMapping[str, str]) -> None:
    """Sets both where the owner did not."""
    for name, value in (HUGE_PAGES, SLEEPING_THREADS):
        environment.setdefault(name, value)
