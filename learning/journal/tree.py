"""The ways through a conversation: which ask follows which.

A message that is asked again, or with other words, stands beside the first, and each keeps what
followed it. Pure: the journal gives the asks, texts stay there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class TreeNode:
    """One ask of a conversation."""

    ask: int
    parent: int | None
    """The ask whose answer it goes on from; None at the beginning, and where that was forgotten."""
    turns: int
    """How many turns it has, its own message among them."""


class ConversationTree:
    """All asks of one conversation."""

    def __init__(self, rows: Iterable[tuple[int, int | None, int | None]] = ()) -> None:
        """rows: (ask, parent, turns where it has no parent) in the order they were asked; an ask
        has two turns more than its parent, which comes before it."""
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
        """What was asked last."""
        return next(reversed(self._nodes), None)

    def path(self, ask: int) -> list[TreeNode]:
        """From the beginning to the ask. Empty where it is not of this conversation."""
        found: list[TreeNode] = []
        node = self._nodes.get(ask)
        while node is not None:
            found.append(node)
            node = self._nodes.get(node.parent) if node.parent is not None else None
        return found[::-1]

    def beside(self, ask: int) -> list[int]:
        """The asks in its place, in order, itself among them: the same parent, as many turns."""
        mine = self._nodes.get(ask)
        return self._places[mine.parent, mine.turns] if mine else []

    def end(self, ask: int) -> int:
        """The newest ask that follows it, at any distance; itself where nothing does."""
        following, newest = {ask}, ask
        for node in self._nodes.values():
            if node.parent in following:
                following.add(node.ask)
                newest = node.ask
        return newest
