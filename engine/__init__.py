"""Runs a language model: ids in, ids and probabilities out."""
