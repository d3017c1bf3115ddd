"""Whether a model was trained on plain text only: such a model continues a text, but does not answer.

`vidya pretrain` writes this into the record beside the weights. Imports no torch.
"""

from __future__ import annotations

import json
from pathlib import Path

RECORD = "record.json"
TALKS = "conversations"
"""Key in the record's "data": whether the training data contained conversations, including the data of the
model that training started from."""
ADVICE = "it goes on with a text, and does not answer: vidya ask --raw TEXT"


def continues_only(folder: Path, version: int) -> bool:
    """Whether the model was trained without conversations and has been taught nothing since.

    version: the published version of its weights; 0: as trained. False if the record cannot be read.
    """
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        return version == 0 and record["data"][TALKS] is False
    except (OSError, ValueError, KeyError, TypeError):
        return False
