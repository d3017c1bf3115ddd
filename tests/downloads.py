"""Stand-ins for the process that fetches models (vidya_tui/worker/fetch.py)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from learning.home import Home

ROOT = Path(__file__).parents[1]
_SCRIPT = """
import os, shutil, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from learning.protocol.events import (Failed)
from learning.protocol.model_events import Fetched, FetchProgress
from learning.protocol.messages import encode
mode, home, name = sys.argv[2:]
def say(event):
    print(encode(event), flush=True)
if mode == "fails":
    say(Failed("fetch", "the network cannot be reached", "try again later")); sys.exit(1)
if mode == "dies":
    sys.exit(7)
say(FetchProgress(name, 45_000_000, 100_000_000))
gate = Path(home) / "gate"
if mode == "waits":
    sys.stdin.read(); sys.exit(130)
while mode == "gated" and not gate.exists():
    time.sleep(0.01)
say(FetchProgress(name, 100_000_000, 100_000_000))
if mode == "prepares":
    say(FetchProgress(name, 100_000_000, 100_000_000, 0.5))
source = Path(sys.argv[1]) / "engine" / "base" / "10m"
shutil.copytree(source, Path(home) / "models" / name, copy_function=os.symlink)
if mode == "prepares":
    sys.stdin.read(); sys.exit(130)
told = (name + " knows 3 of 20 lines", True) if mode == "few" else ()
say(Fetched(name, 134_515_008, *told))
"""


def download(mode: str, home: Home, name: str) -> Sequence[str]:
    """A command line. mode: "fails", "dies", "waits" until it is stopped, "gated": goes on when the home has
    a file `gate`; "prepares" what is there until it is stopped; "few": fetches a copy of the 10M, of which it
    says that it knows few lines; anything else fetches such a copy at once."""
    return [sys.executable, "-c", _SCRIPT, str(ROOT), mode, str(home.path), name]


def no_download(home: Home, name: str) -> Sequence[str]:
    """A process that has no network."""
    return download("fails", home, name)
