"""Kinds of questions: how people ask for the same thing. Text in, text out."""
