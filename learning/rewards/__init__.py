"""Tasks whose answers a program can check: what a task is, and the registry of tasks.

Loads no torch; imports learning.data. Tasks are in tasks/, checks in verifiers/, the isolation of
model-written text in sandbox/.
"""
