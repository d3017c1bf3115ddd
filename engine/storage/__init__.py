"""Files: writing them whole or not at all, reading those of others, checkpoints, full disks.

Imports engine.config, errors, model.
"""
