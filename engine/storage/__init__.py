"""Files: atomic writing, safe reading of untrusted files, checkpoints, GGUF, full disks.

Imports engine.config, errors, model.
"""
