"""Vidya's character: the book she is raised on, and its parser. Text only, no torch."""
