"""Taught facts asked for in any words, against knowledge editing and retrieval."""
