"""learning.pretraining.checkpoint: files that are no checkpoint of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from engine.errors import CheckpointError
from learning.pretraining.checkpoint import TRAINING, check_order, resume_run

SPIKES = {"loss": {}, "norm": {}, "refused": 0, "broken": 0}


@pytest.mark.parametrize(
    "changed",
    [
        *({"identity": found} for found in (5, None, [1], "rows", "{")),
        *({"progress": found} for found in (5, [1], {"since": [1]})),
        *({"spikes": found} for found in (5, [1], {"loss": {}, "norm": {}})),
    ],
    ids=str,
)
def test_state_of_the_wrong_kind_is_told_in_one_line(
    changed: dict[str, Any], tmp_path: Path
) -> None:
    state = {"identity": {"rows": 8}, "progress": {"since": {}}, "spikes": SPIKES, **changed}
    texts = {k: "{" if v == "{" else json.dumps(v) for k, v in state.items()}
    save_file({"x": torch.zeros(1)}, tmp_path / TRAINING, texts)
    check_order(tmp_path, {"rows": 8})  # resume_run tells what is wrong with the file
    with pytest.raises(CheckpointError, match="is no checkpoint of this program") as caught:
        resume_run(None, None, None, {"rows": 8}, tmp_path)  # type: ignore[arg-type]
    assert caught.value.next_step == "choose another --out" and "\n" not in str(caught.value)
