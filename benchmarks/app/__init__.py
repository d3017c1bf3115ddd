"""The real app in a pseudo-terminal: how soon it starts, and how soon a key shows."""
