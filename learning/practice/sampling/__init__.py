"""Answers and conversations, drawn many at a time and scored; groups that wait for an update.

What is learned from them is in learning.practice.trainer.
"""
