from __future__ import annotations

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import os
from engine.freed_memory import return_freed_memory
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
held = [bytes(60_000) for _ in range(3000)]
last = bytes(60_000)
del held
kept = resident()
return_freed_memory()
print(kept - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc's malloc only")
def test_freed_memory_is_returned() -> None:
    keeps = {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=268435456", "PATH": "/usr/bin:/bin"}
    said = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=keeps, check=True
    ).stdout
    assert float(said) > 100.0, "of 180 MB"
