"""Environment that torch has to find when it is loaded. Imports no torch."""

from __future__ import annotations

from collections.abc import MutableMapping

_MB = 2**20
MEMORY = (
    "GLIBC_TUNABLES",
    "glibc.malloc.hugetlb=1"
    f":glibc.malloc.mmap_threshold={32 * _MB}:glibc.malloc.trim_threshold={256 * _MB}",
)
"""Huge pages, and up to 256 MB of what is free stay with the process: given back after every operation
and asked for again, they are filled with zeros each time, which took a tenth of a step. Read when a
process starts, so it works for a child only."""
WAITING_THREADS = ("OMP_WAIT_POLICY", "passive")
"""Torch's threads soon sleep while they wait for each other. Spinning, they keep the core that the
thread they wait for needs: beside one other busy process a step took 40 times as long."""
SPINS = ("GOMP_SPINCOUNT", "1000")
"""How often they look before they sleep, in GNU's OpenMP, which torch has on Linux. Small steps of the
10M on two cores, alone and beside a busy process: 0.75 and 0.67 s without a look, 0.44 and 0.95 with a
thousand, 0.38 and 3.0 with ten thousand, 0.41 and 24 as torch does by itself."""

KEPT_SHAPES = (("LRU_CACHE_CAPACITY", "64"), ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64"))
"""How many products torch and oneDNN, below it, each keep ready: one for each shape met in bfloat16,
1,024 each by themselves. Lessons have ever new shapes: 400 batches of them came to 1.9 GB at 10M, to
1.1 with either cache bounded, to 0.4 with both, and took no longer. A model's own are some 20."""


def prepare(environment: MutableMapping[str, str]) -> None:
    """Sets all of them where the owner did not."""
    threads = () if WAITING_THREADS[0] in environment else (SPINS, WAITING_THREADS)
    for name, value in (MEMORY, *KEPT_SHAPES, *threads):
        environment.setdefault(name, value)
