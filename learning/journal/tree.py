"""The tree of a conversation's asks: each ask has the ask that it follows as its parent.

A message that is sent again, or edited, becomes a sibling of the first, and each keeps its own continuation.
Pure. Left out: reading asks and texts (learning.journal.journal).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class TreeNode:
    """One ask of a conversation."""

    ask: int
    parent: int | None
    """The ask whose answer it follows; None at the beginning of a conversation, or if the parent was
    erased."""
    turns: int
    """Number of turns up to and including its message."""


class ConversationTree:
    """All asks of one conversation, by parent."""

    def __init__(self, rows: Iterable[tuple[int, int | None, int | None]] = ()) -> None:
        """rows: (ask, parent, turns) in the order they were asked, parents first. `turns` is used only for
        an ask without a parent; any other ask has two turns more than its parent."""
        self._nodes: dict[int, TreeNode] = {}
        self._places: dict[tuple[int | None, int], list[int]] = {}
        for ask, parent, turns in rows:
            before = self._nodes.get(parent) if parent is not None else None
            count = before.turns + 2 if before else turns or 1
            node = TreeNode(ask, before.ask if before else None, count)
            self._nodes[ask] = node
            self._places.setdefault((node.parent, node.turns), []).append(ask)

    def __len__(self) -> int:
        return len(self._nodes)

    def newest(self) -> int | None:
        """The ask that was added last; None if there is none."""
        return next(reversed(self._nodes), None)

    def path(self, ask: int) -> list[TreeNode]:
        """The nodes from the beginning to the ask. Empty if the ask is not in this conversation."""
        found: list[TreeNode] = []
        node = self._nodes.get(ask)
        while node is not None:
            found.append(node)
            node = self._nodes.get(node.parent) if node.parent is not None else None
        return found[::-1]

    def beside(self, ask: int) -> list[int]:
        """The ask and its siblings (same parent, same number of turns), oldest first. Empty for an unknown
        ask."""
        mine = self._nodes.get(ask)
        return self._places[mine.parent, mine.turns] if mine else []

    def after(self, ask: int) -> dict[int, int]:
        """The ask's descendants, oldest first -> how many turns after it they are, at least 1."""
        found = {ask: 0}
        for node in self._nodes.values():
            if node.parent in found:
                found[node.ask] = found[node.parent] + 1
        return {other: turns for other, turns in found.items() if turns}

    def end(self, ask: int) -> int:
        """The newest descendant of the ask; the ask itself if it has none."""
        return next(reversed(self.after(ask)), ask)
