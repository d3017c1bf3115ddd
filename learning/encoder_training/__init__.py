"""Trains the sentence encoder with which lessons are found (engine.encoder)."""
