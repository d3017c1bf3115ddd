"""The practice tasks, generated or read from data files.

Imports verifiers, sandbox and rewards.task.
"""
