"""Worlds for agents: small ones with known solutions, and tasks of practice as worlds of one step.

Imports learning.agents.interface and learning.rewards.
"""
