"""Erases parts of the journal beyond recovery: what goes, what stays of what was said after it."""
