"""Whether a model was trained on plain text only, and so goes on with a text but does not answer.

`vidya pretrain` writes it into the record beside the weights. Imports no torch.
"""

from __future__ import annotations

import json
from pathlib import Path

RECORD = "record.json"
TALKS = "conversations"
"""In the record: whether there were conversations in what it, or the model it began as, was trained on."""
ADVICE = "it goes on with a text, and does not answer: vidya ask --raw TEXT"


def continues_only(folder: Path, version: int) -> bool:
    """True where nothing that it was trained on was a conversation, and it was taught nothing since.
    version: of its weights; 0 as trained. A record that cannot be read says nothing."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
        return version == 0 and record["data"][TALKS] is False
    except (OSError, ValueError, KeyError, TypeError):
        return False
