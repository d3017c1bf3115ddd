"""Where exports may be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import VidyaError
from learning.home import Home
from vidya_tui.controller.export import check_free


def test_an_export_is_not_written_among_the_files_of_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    monkeypatch.chdir(home.path)
    for path in (home.path / "all.jsonl", Path("all.jsonl"), home.models_path / "all.jsonl"):
        with pytest.raises(VidyaError, match="all.jsonl: lies in the home") as caught:
            check_free(path, home, force=True)
        assert caught.value.next_step == "name a file outside of the home"
    for path in (None, home.exports_path / "all.jsonl", tmp_path / "all.jsonl", Path("../x")):
        check_free(path, home, force=False)
