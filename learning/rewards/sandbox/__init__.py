"""Runs hostile programs in a child process behind namespaces, seccomp and resource limits.

Imports nothing else of rewards.
"""
