"""The processor, in words."""

from __future__ import annotations

import platform
from pathlib import Path

EXTENSIONS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Vector extensions on which the speed and the last bits of sums depend."""


def processor() -> str:
    """Its name and which of EXTENSIONS it has."""
    name, flags = platform.processor() or platform.machine(), ""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
            elif key.strip() == "flags":
                flags = value
                break
    except OSError:
        pass
    has = [extension for extension in EXTENSIONS if extension in flags.split()]
    return f"{name} ({', '.join(has)})" if has else name
