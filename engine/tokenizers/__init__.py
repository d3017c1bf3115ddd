"""Text to ids and back, and how a conversation is written in them: both belong to a model's folder.

Imports engine.errors, engine.storage.
"""
