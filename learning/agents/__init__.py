"""Reinforcement learning in Sutton's framework: what an agent and its world exchange, policies, and learners.

Imports learning.maths and, for a language model as a policy, the engine. Left out: worlds (learning.envs),
and practice of the language model (learning.practice).
"""
