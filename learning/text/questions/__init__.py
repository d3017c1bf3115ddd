"""Analyses messages: is it a question, about whom, and for what kind of answer?"""
