"""The process that holds the model, and its supervisor.

Imports text; worker.main alone loads torch.
"""
