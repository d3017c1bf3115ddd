"""Verifiers of answers: numbers, strings, expressions, programs.

Imports sandbox and rewards.task.
"""
