"""Environment variables that must be set before torch is loaded. Imports no torch."""

from __future__ import annotations

from collections.abc import MutableMapping

_MB = 2**20
MEMORY = (
    "GLIBC_TUNABLES",
    "glibc.malloc.hugetlb=1"
    f":glibc.malloc.mmap_threshold={32 * _MB}:glibc.malloc.trim_threshold={256 * _MB}",
)
"""Lets malloc use huge pages and keep up to 256 MB of freed memory. If malloc returns memory to the kernel
after every operation, the kernel zeroes it again each time, which took a tenth of a step. Read at process
start, so it affects child processes only."""
WAITING_THREADS = ("OMP_WAIT_POLICY", "passive")
"""Makes torch's threads sleep soon while they wait for each other. A spinning thread occupies the core that
the thread it waits for needs: beside one other busy process a step took 40 times as long."""
SPINS = ("GOMP_SPINCOUNT", "1000")
"""Spins before sleeping, in GNU's OpenMP, which torch uses on Linux. Time of small steps of the 10M model on
two cores, alone and beside a busy process: 0.75 and 0.67 s with 0 spins, 0.44 and 0.95 s with 1,000, 0.38
and 3.0 s with 10,000, 0.41 and 24 s with torch's default."""

KEPT_SHAPES = (("LRU_CACHE_CAPACITY", "256"), ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256"))
"""Sizes of the caches in torch and oneDNN for compiled matrix products, one per shape in bfloat16; the
default is 1,024 each. A lesson and its pause have 100 to 180 shapes, because engine.products fills rows up.
If shapes vary without end, kernels fill the caches: with 64 of each a process of the 10M used 0.4 GB after
400 batches, with 1,024 it used 1.9 GB."""


def prepare(environment: MutableMapping[str, str]) -> None:
    """Sets all of these variables that are not set already."""
    threads = () if WAITING_THREADS[0] in environment else (SPINS, WAITING_THREADS)
    for name, value in (MEMORY, *KEPT_SHAPES, *threads):
        environment.setdefault(name, value)
