"""Teaches a smaller model what a larger one answers: openings, the teacher's filtered answers, the steps.

May import memory, models, objectives, data, text and what is below them; never another way of learning.
"""
