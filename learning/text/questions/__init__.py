"""Reads questions: whether a message is one, whom it is about, and what kind of answer it asks for."""
